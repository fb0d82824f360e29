/** The vendor's Ansible collection as Debian ships it: each module makes, changes and removes, and finds what it made. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readCases } from '../ansible/cases.ts'
import { runCases } from '../ansible/playbook.ts'
import { ansibleSection, COLLECTION_VERSION } from '../ansible/table.ts'
import { insistOnSection } from '../support/page-section.ts'
import { startProduct } from '../support/product.ts'
import { reasonWithout, runnerFor, type Run } from './programs.ts'
import { isWhole } from './tree.ts'

/** What `npm test` runs of the modules. */
const SMOKE = 'na_ontap_job_schedule'
/** `na_ontap_volume,na_ontap_svm`: these modules alone, while something is being made to work. */
const wanted = (process.env['ANSIBLE_MODULES'] ?? (isWhole ? '' : SMOKE)).split(',').filter((name) => name !== '')
const skip =
  reasonWithout('ansible-playbook') ||
  // .ci/run installs what the modules need, and is to fail without it.
  (!isWhole && reasonWithout('/usr/bin/python3', ['-c', 'import requests']) && 'requests is not installed for Python')

test('the Ansible collection netapp.ontap', { skip, timeout: 1_260_000 }, async (context) => {
  const home = await mkdtemp(join(tmpdir(), 'holdfast-ansible-'))
  const product = await startProduct()
  try {
    const run = runnerFor(product, home)
    const version = await collectionVersion(run)
    if (version === undefined) return context.skip('Ansible has no collection netapp.ontap')
    const results = await runCases(run, product, join(home, 'play'), await readCases(run, wanted))
    for (const { module, case: one, steps } of results) {
      await context.test(`${module}: ${one.name}`, () => {
        const problems = steps.flatMap(({ step, problem }) => (problem === undefined ? [] : [`${step} ${problem}`]))
        assert.deepEqual(problems, [])
      })
    }
    if (wanted.length > 0 || version !== COLLECTION_VERSION) return
    await context.test('docs/compatibility.md says what was found', () =>
      insistOnSection('docs/compatibility.md', 'Ansible', ansibleSection(results)),
    )
  } finally {
    await product.stop()
    await rm(home, { recursive: true, force: true })
  }
})

async function collectionVersion(run: Run): Promise<string | undefined> {
  const { stdout } = await run('ansible-galaxy', ['collection', 'list', '--format', 'json'])
  const folders = JSON.parse(stdout) as Readonly<Record<string, Readonly<Record<string, { version: string }>>>>
  return Object.values(folders).flatMap((folder) => folder['netapp.ontap']?.version ?? [])[0]
}
