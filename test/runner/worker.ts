/**
 * Tests files in turn, each as a suite of its own, until the queue is empty or a file was not clean. To start a process
 * and to load the product costs more than most files' tests, so many files share one; what a file leaves behind that
 * could disturb the next one fails it, and the next one has another process.
 */
import './current-test.ts'
import { cpuUsage } from 'node:process'
import { pathToFileURL } from 'node:url'
import { childrenCpuMs } from './cpu.ts'
import { LeftBehind } from './left-behind.ts'
import { Queue } from './queue.ts'

// Not before what it is to find has been put in its place.
const { after, suite } = await import('node:test')

/** Time to write what the reporter holds. What it does not write is tested again. */
const TELL_MS = 1000

const [, , folder = '', worker = ''] = process.argv
const queue = Queue.open(folder)

for (let file = queue.claim(worker); file !== undefined; file = queue.claim(worker)) {
  if (await testFile(file)) continue
  // What was left behind may keep the process for ever.
  setTimeout(() => process.exit(1), TELL_MS).unref()
  break
}

/** Tells whether the process is as it was before. */
async function testFile(file: string): Promise<boolean> {
  const beganMs = performance.now()
  const cpu = cpuUsage()
  const childrenMs = childrenCpuMs()
  return new Promise((resolve) => {
    const end = (isClean: boolean) => {
      const { user, system } = cpuUsage(cpu)
      const cpuMs = (user + system) / 1000 + childrenCpuMs() - childrenMs
      queue.finish(file, { cpuMs, wallMs: performance.now() - beganMs })
      resolve(isClean)
    }
    void suite(file, async () => {
      const before = new LeftBehind()
      try {
        await import(pathToFileURL(file).href)
        before.hasLoaded()
      } catch (failure) {
        end(false)
        throw failure
      }
      // Registered last, so it runs behind the hooks of the file.
      after(async () => {
        const left = await before.compare()
        end(left.length === 0)
        if (left.length > 0) throw new Error(`${file} leaves behind: ${left.join(', ')}.`)
      })
    })
  })
}
