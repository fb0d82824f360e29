/**
 * Which test is running, for node:test: it wants to know for whom `after` is called, and whose an error is that nobody
 * caught. It asks a hook of `async_hooks` that is called for every promise of the process, which is a fifth of what many
 * files cost. Here it is the context that Node.js carries along anyway, that of `AsyncLocalStorage`.
 *
 * To be imported before anything imports node:test, which takes these three functions when it is loaded.
 */
import { createRequire } from 'node:module'
import type * as AsyncHooks from 'node:async_hooks'

type Hooks = { -readonly [Name in keyof typeof AsyncHooks]: (typeof AsyncHooks)[Name] }

// What `require` gives can be changed, and is what node:test sees.
const hooks = createRequire(import.meta.url)('node:async_hooks') as Hooks
const { AsyncLocalStorage, AsyncResource, createHook, executionAsyncId } = hooks
const current = new AsyncLocalStorage<number>()
let noteTest: AsyncHooks.HookCallbacks['init']

hooks.createHook = (callbacks) => {
  noteTest = (...args) => callbacks.init?.(...args)
  const hook = { enable: () => hook, disable: () => hook }
  return hook
}
hooks.executionAsyncId = () => current.getStore() ?? executionAsyncId()
/** A test of node:test is one. */
hooks.AsyncResource = class extends AsyncResource {
  constructor(type: string, options?: number | AsyncHooks.AsyncResourceOptions) {
    super(type, options)
    noteTest?.(this.asyncId(), type, this.triggerAsyncId(), this)
  }

  override runInAsyncScope<This, Result>(
    act: (this: This, ...args: never[]) => Result,
    thisArg?: This,
    ...args: unknown[]
  ): Result {
    const run = () => Reflect.apply(act, thisArg as This, args as never[])
    return super.runInAsyncScope(() => current.run(this.asyncId(), run))
  }
}

await import('node:test')
Object.assign(hooks, { AsyncResource, createHook, executionAsyncId })
