/** `.ci/run` sets it: everything, not the part that ends soon. CONTRIBUTING.md says what that is. */
export const isWhole = process.env['HOLDFAST_TEST_WHOLE'] === '1'
