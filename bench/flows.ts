/** A generator of what is more than one kind of request: uploads in parts, and a mix as applications have it. */
import { randomFillSync } from 'node:crypto'
import { numbered, type Load } from './order.ts'
import { Sender, type Destination, type Request } from './sender.ts'
import { Tally } from './tally.ts'

export interface FlowOrder extends Destination {
  readonly flow: 'multipart' | 'mixed'
  /** Has `{n}` from 0 to `objects` - 1, of `bytes` each, in a folder of that name, where the flow is mixed. */
  readonly bucket: string
  readonly objects: number
  /** Of an object, or of a part. */
  readonly bytes: number
  readonly clients: number
  readonly seconds: number
}

/** Of each kind of request, what became of it. */
export type FlowLoads = Readonly<Record<string, Load>>

const PARTS = 2

process.on('disconnect', () => process.exit(0))
process.on('message', (order: FlowOrder) => {
  run(order).then(
    (load) => process.send?.({ load }),
    (failure: unknown) => process.send?.({ failure: String(failure) }),
  )
})

async function run(order: FlowOrder): Promise<FlowLoads> {
  const sender = new Sender(order, order.clients)
  const body = randomFillSync(Buffer.allocUnsafe(order.bytes))
  const tallies = new Map<string, Tally>()
  const ask = async (kind: string, request: Request, keepText = false) => {
    const tally = tallies.get(kind) ?? new Tally()
    tallies.set(kind, tally)
    const sentMs = performance.now()
    const answer = await sender.send(request, keepText)
    return tally.note(sentMs, answer, request.payload?.length ?? 0) ? answer : undefined
  }
  const endMs = performance.now() + order.seconds * 1000
  const client = async (me: number) => {
    const once = order.flow === 'multipart' ? multipart(order, body, me, ask) : mixed(order, body, me, ask)
    do await once()
    while (performance.now() < endMs)
  }
  await Promise.all(Array.from({ length: order.clients }, (_, me) => client(me)))
  sender.end()
  return Object.fromEntries([...tallies].map(([kind, tally]) => [kind, tally.load()]))
}

type Ask = (kind: string, request: Request, keepText?: boolean) => Promise<{ text: string; etag: string } | undefined>

/** Each client replaces its own object again and again, so that the disk does not fill. */
function multipart({ bucket }: FlowOrder, body: Buffer, me: number, ask: Ask): () => Promise<void> {
  const path = `/${bucket}/parts-${me}`
  return async () => {
    const created = await ask('create', { method: 'POST', path: `${path}?uploads=` }, true)
    const id = /<UploadId>([^<]+)</.exec(created?.text ?? '')?.[1]
    if (id === undefined) return
    let list = ''
    for (let number = 1; number <= PARTS; number++) {
      const target = `${path}?partNumber=${number}&uploadId=${id}`
      const part = await ask('part', { method: 'PUT', path: target, payload: body })
      if (part === undefined) return
      list += `<Part><PartNumber>${number}</PartNumber><ETag>${part.etag}</ETag></Part>`
    }
    const payload = Buffer.from(`<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`)
    await ask('complete', { method: 'POST', path: `${path}?uploadId=${id}`, payload })
  }
}

/** What each client deletes it has put itself; of ten requests six read, two write, one lists and one deletes. */
function mixed({ bucket, objects }: FlowOrder, body: Buffer, me: number, ask: Ask): () => Promise<void> {
  const put: string[] = []
  let n = 0
  const any = () => numbered('{n}', Math.floor(Math.random() * objects))
  return async () => {
    const dice = Math.random()
    const doomed = put[0]
    if (dice < 0.6) await ask('GET', { method: 'GET', path: `/${bucket}/${body.length}/${any()}` })
    else if (dice < 0.8 || (dice >= 0.9 && doomed === undefined)) {
      const path = `/${bucket}/mixed-${me}/${numbered('{n}', n++)}`
      if ((await ask('PUT', { method: 'PUT', path, payload: body })) !== undefined) put.push(path)
    } else if (dice < 0.9 || doomed === undefined) {
      const path = `/${bucket}?list-type=2&max-keys=1000&start-after=${body.length}%2F${any()}`
      await ask('LIST', { method: 'GET', path })
    } else {
      put.shift()
      await ask('DELETE', { method: 'DELETE', path: doomed })
    }
  }
}
