/** The servers that are measured. Each says where it is, what its processes are, and how it ends. */
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { descendants } from '../../test/clients/processes.ts'
import { startProduct } from '../../test/support/product.ts'

export interface Target {
  readonly name: string
  /** Its address over plain HTTP, and over TLS. */
  readonly http: string
  readonly https: string
  readonly accessKey: string
  readonly secretKey: string
  /** All of its processes, with what each is. */
  processes(): readonly { readonly pid: number; readonly part: string }[]
  end(): Promise<void>
}

/** The product of a checkout, as anyone starts it but for where its data is. */
export async function startCheckout(
  name: string,
  checkout: string,
  folder: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Target> {
  const options = {
    folder: join(folder, name),
    program: join(checkout, 'bin', 'launch.mjs'),
    environment: { HOLDFAST_WORKERS: String(availableParallelism()), ...environment },
  }
  // The first start of a checkout compiles what later ones read, and keeps some of what that took.
  const first = await startProduct(options)
  await first.stop({ keepFolder: true })
  const product = await startProduct(options)
  return {
    name,
    http: product.s3Http ?? '',
    https: product.s3 ?? '',
    accessKey: product.accessKey,
    secretKey: product.secretKey,
    processes: () => [{ pid: product.pid, part: 'main' }, ...descendants(product.pid)],
    end: () => product.stop(),
  }
}
