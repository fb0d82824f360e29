/**
 * Tells whether a random test has taken its time. Properties ask it between their rounds and end there: what fast-check
 * interrupts goes on behind the next test.
 */
export function timeLimit(limitMs: number): () => boolean {
  const endsMs = performance.now() + limitMs
  return () => performance.now() > endsMs
}
