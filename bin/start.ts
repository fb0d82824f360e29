/** Starts a one-node cluster and stays until it is told to stop. */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { randomBytes } from 'node:crypto'
import type { LeaveTree } from '../src/core/cluster.ts'
import { backgroundTasks } from '../src/background/index.ts'
import { Housekeeping } from '../src/background/housekeeping.ts'
import { Jobs } from '../src/core/jobs/jobs.ts'
import { Login } from '../src/core/access/login.ts'
import { divideMemory } from '../src/core/memory-budget.ts'
import type { TreePlace } from '../src/storage/tree-of.ts'
import { Readiness } from '../src/core/readiness.ts'
import { Actions } from '../src/core/perform.ts'
import { seed, type Seeded } from '../src/core/seed/apply.ts'
import { CertificateFailure, openCertificate } from '../src/engines/certificate.ts'
import { keepHeapSmall, trimHeap } from '../src/engines/heap.ts'
import { writeDurably } from '../src/engines/durable-file.ts'
import { openSqliteCatalog } from '../src/engines/sqlite/catalog.ts'
import { startWriter } from '../src/engines/sqlite/start-writer.ts'
import { serveManagement } from '../src/faces/rest/server.ts'
import { printRelease } from '../src/model/release.ts'
import { addBuiltIns, type FirstCredentials, firstStart, isFirstStart } from '../src/resources/first-start.ts'
import { adoptTraphosts } from '../src/resources/support/snmp/traphosts.ts'
import { adoptAccounts, adoptKeys } from '../src/resources/security/accounts.ts'
import { adoptAggregates } from '../src/resources/storage/aggregates/adopt.ts'
import { namingPackDamage } from '../src/resources/storage/damage/of-packs.ts'
import { DamageWatch } from '../src/background/damage-watch.ts'
import { setSize } from '../src/resources/storage/volumes/set-size.ts'
import { AgeNotes, insistOnAge } from './age.ts'
import { announce, keepSecrets, type Secrets } from './announce.ts'
import { openClusterKey } from './cluster-key.ts'
import { openDataFolder } from './data-folder.ts'
import { makeEphemeralFolder } from './ephemeral.ts'
import { reasonOf, StartFailure } from './failures.ts'
import { endOnSurprise, openLog } from './log.ts'
import { openCluster, openEngines, places } from './parts.ts'
import { cannotListen, canBindLowPorts, insistOnOwnPort, settlePorts } from './ports.ts'
import { ScheduledBackups } from './scheduled-backups.ts'
import { markRun, noteUnproven } from './run-records.ts'
import { readSeedFile, revealedBy, tellSeeded } from './seed.ts'
import { printAddress, type Settings } from './settings.ts'
import { openTrace } from './trace.ts'
import type { UnlinkedBlobs } from './unlinked-notes.ts'
import { keepWriter } from './writer.ts'
import { type CommonOrder, Workers } from './workers.ts'
import { textOf } from '../src/model/value.ts'

/** How long requests in progress may take to end when the cluster stops. */
const DRAIN_MS = 30_000
/** npm and a terminal may both pass on the same Ctrl-C: signals so close together are one. */
const SAME_SIGNAL_MS = 1000

export async function start(given: Settings): Promise<void> {
  const begunMs = Date.now()
  const seedFile = given.seed === undefined ? undefined : readSeedFile(given.seed)
  const settings = given.isEphemeral ? { ...given, data: makeEphemeralFolder() } : given
  const log = openLog(settings.log, 'cluster')
  endOnSurprise(() => log)
  const stopped = stopSignal(log)
  const traceFile = given.trace === undefined ? undefined : openTrace(given.trace, log)
  const folder = await openDataFolder(settings.data)
  const memory = divideMemory(settings.memoryMib, settings.workers)

  // A name that only this start's processes know: one that an earlier start left behind cannot commit any more.
  const socket = join(places.sockets, `${randomBytes(8).toString('hex')}.sock`)
  const [certificate, writer] = await Promise.all([
    openCertificate(places.certificates, begunMs, () => {
      if (!folder.isNew)
        log.warn('A new key and certificate were made: there were none. Clients have to trust it anew.')
    }).catch(inOneSentence(CertificateFailure, 'The certificate cannot be made')),
    keepWriter(
      (isFirst) =>
        startWriter({
          file: places.catalog,
          socket,
          isFirst,
          acceptsLoss: isFirst && settings.acceptsLoss,
          cacheKib: memory.writerCacheKib,
        }),
      log,
    ).catch(inOneSentence(StartFailure, 'The cluster cannot start')),
  ])
  folder.removeSocketsBut(socket)
  const catalog = openSqliteCatalog({ file: places.catalog, commit: { socket }, cacheKib: memory.main.cacheKib })
  const secrets = await openClusterKey(places.clusterKey, catalog)
  if (!writer.isProven) await noteUnproven(catalog)
  const { release, lifecycleDayMs } = settings
  // Jobs are taken up before there are workers: then nobody writes anywhere.
  let workers: Workers | undefined
  const leaveTree: LeaveTree = async (volume, tree) => (await workers?.leaveTree(volume, tree)) ?? false
  const managementAddress = settings.management.host
  const { packedBodyBytesMax, packDeadShare } = settings
  const packWriter = randomBytes(4).toString('hex')
  // What is unlinked before there is housekeeping is found by its first look.
  let notePacks = (_place: TreePlace): void => undefined
  let noteUnlinked = async (_unlinked: readonly UnlinkedBlobs[]): Promise<void> => undefined
  const engines = openEngines({
    writer: packWriter,
    isWriting: (one) => one === packWriter || dataPlane.isWriting(one),
    bodyBytesMax: packedBodyBytesMax,
    onUnlinked: (place) => notePacks(place),
  })
  const { pages } = memory.main
  const cluster = openCluster({
    catalog,
    release,
    log,
    secrets,
    lifecycleDayMs,
    leaveTree,
    managementAddress,
    engines,
    pages,
  })
  const { acceptsLoss } = settings
  await insistOnAge(cluster, catalog, { acceptsLoss, hasLost: writer.hasLost })
  // They load their programs while this process does what comes before they serve.
  const order = Promise.withResolvers<CommonOrder>()
  const damageWatch = new DamageWatch(cluster)
  const dataPlane = new Workers(order.promise, log, {
    clock: cluster.system.clock,
    grow: (volume, moreBytes) => setSize(cluster, volume, moreBytes),
    onDamage: (found) => damageWatch.report({ ...found, foundBy: 'read' }),
    onUnlinked: (unlinked) => void noteUnlinked(unlinked),
    onLoss: () => {
      catalog.commit([cluster.event('cluster.worker.restarted', {})]).catch((failure: unknown) => {
        log.warn('An event could not be logged.', { cause: String(failure) })
      })
    },
  })
  const serving = dataPlane.start(settings.workers)
  serving.catch(() => undefined)
  const jobs = new Jobs(cluster)
  const actions = new Actions(cluster, jobs)
  await jobs.resume()

  await adoptAccounts(cluster)
  await adoptKeys(cluster)
  await adoptTraphosts(cluster)
  const isFirst = await isFirstStart(cluster)
  const adminPassword = settings.adminPassword ?? randomBytes(12).toString('base64url')
  await Promise.all([insistOnOwnPort('HOLDFAST_S3', settings.s3), insistOnOwnPort('HOLDFAST_S3_HTTP', settings.s3Http)])
  const { s3, s3Http } = await settlePorts({ s3: settings.s3, s3Http: settings.s3Http }, [settings.management.port])
  let seeded: Seeded | undefined
  const addSeed = async () => {
    if (seedFile !== undefined) seeded = await seed(actions, seedFile)
  }
  const credentials = isFirst
    ? await firstStart(
        actions,
        {
          adminPassword,
          accessKey: settings.accessKey,
          secretKey: settings.secretKey,
          isBare: settings.isBare,
          aggregateFolder: places.aggregate,
          dataAddress: (s3 ?? s3Http)?.host ?? '127.0.0.1',
        },
        addSeed,
      )
    : undefined
  if (!isFirst) await addBuiltIns(cluster)
  if (!isFirst) await adoptAggregates(cluster)
  if (!isFirst) await addSeed()

  let isReady = false
  const readiness = new Readiness(catalog, cluster.system.clock)
  const login = new Login(cluster)
  order.resolve({
    release: printRelease(settings.release),
    log: settings.log,
    certificate,
    socket,
    firstInterface: await firstInterface(cluster),
    s3: s3 ?? null,
    s3Http: s3Http ?? null,
    canBindLowPorts: await canBindLowPorts(),
    packedBodyBytesMax,
    memory: memory.worker,
  })
  workers = dataPlane
  const [management] = await Promise.all([
    serveManagement(
      {
        actions,
        authenticate: (authorization, from) => login.authenticate(authorization, from),
        ...(traceFile === undefined ? {} : { trace: traceFile.trace }),
        wireDialect: async () => textOf((await cluster.rows('cluster'))[0]?.['wire_dialect'] ?? 'auto'),
      },
      {
        ...certificate,
        host: settings.management.host,
        port: settings.management.port,
        browserFolder: dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json')),
        isReady: async () => isReady && dataPlane.isServing && (await readiness.canCommit()),
      },
    ).catch((failure: unknown) => {
      throw cannotListen('HOLDFAST_MANAGEMENT', settings.management, failure)
    }),
    serving.catch(inOneSentence(StartFailure, 'The data plane cannot start')),
  ])

  await cluster.faults.onFull((aggregates) => dataPlane.fill(aggregates))
  const housekeeping = new Housekeeping(cluster, jobs, {
    stillReading: (blobs) => dataPlane.stillReading(blobs),
    packDeadShare,
    onPackDamage: namingPackDamage(cluster, (found) => damageWatch.report(found)),
  })
  notePacks = (place) => housekeeping.notePacks(place)
  noteUnlinked = async (unlinked) => {
    for (const { place, blobs } of unlinked) await housekeeping.noteUnlinked(place, blobs)
  }
  const before = await markRun(catalog, false)
  const tasks = [
    ...backgroundTasks(actions),
    damageWatch,
    ...(settings.backup === undefined ? [] : [new ScheduledBackups(cluster, settings.backup, settings.data)]),
  ]
  for (const task of tasks) task.start()
  housekeeping.start(before.isClean ? undefined : { sweepBeforeMs: begunMs, isProven: before.isProven })
  if (writer.hasLost) await catalog.commit([cluster.event('cluster.loss.accepted', {})])
  const ageNotes = new AgeNotes(cluster, catalog)
  ageNotes.start()

  const endpoints = {
    management: printAddress('https', management),
    ...(s3 === undefined ? {} : { s3: printAddress('https', s3) }),
    ...(s3Http === undefined ? {} : { s3_http: printAddress('http', s3Http) }),
  }
  await writeDurably(places.endpoints, `${JSON.stringify(endpoints)}\n`, 0o644)
  await catalog.commit([cluster.event('cluster.started', { release: printRelease(settings.release) })])
  const isShown = process.stdout.isTTY
  const made = isFirst ? madeUp(settings, adminPassword, credentials) : {}
  const keys = isShown ? [] : revealedBy(seeded)
  const isKept = !isShown && Object.keys(made).length + keys.length > 0
  const secretsFile = isKept ? await keepSecrets(places.credentials, made, keys) : undefined
  trimHeap()
  keepHeapSmall()
  isReady = true
  process.stdout.write(
    announce(
      {
        management: endpoints.management,
        s3: endpoints.s3,
        s3Http: endpoints.s3_http,
        dataFolder: settings.data,
        readyMs: Date.now() - begunMs,
        release: printRelease(settings.release),
        isFirst,
        made,
        secretsFile,
      },
      isShown,
    ) + (seeded === undefined ? '' : tellSeeded(isShown ? seeded : { ...seeded, revealed: [] })),
  )

  await stopped
  isReady = false
  log.info('Stopping: requests in progress may end.', { drainMs: DRAIN_MS })
  await Promise.all([
    within(DRAIN_MS, management.close()),
    dataPlane.stop(DRAIN_MS),
    jobs.drain(DRAIN_MS),
    housekeeping.stop(),
    ...tasks.map((task) => task.stop()),
  ])
  await traceFile?.close()
  await engines.close()
  await markRun(catalog, true)
  await ageNotes.stop()
  await catalog.close()
  await writer.stop()
  log.info('Stopped.')
  process.exit(0)
}

/** What the first start made up, because it was not given. */
function madeUp(settings: Settings, adminPassword: string, keys: FirstCredentials | undefined): Secrets {
  return {
    ...(settings.adminPassword === undefined ? { HOLDFAST_ADMIN_PASSWORD: adminPassword } : {}),
    ...(settings.accessKey === undefined && keys !== undefined
      ? { AWS_ACCESS_KEY_ID: keys.accessKey, AWS_SECRET_ACCESS_KEY: keys.secretKey }
      : {}),
  }
}

/** Passes on what is a sentence already; makes one of anything else. */
function inOneSentence(known: typeof StartFailure | typeof CertificateFailure, what: string) {
  return (failure: unknown): never => {
    throw failure instanceof known
      ? new StartFailure(failure.message)
      : new StartFailure(`${what}: ${reasonOf(failure)}`, { cause: failure })
  }
}

/** Settles at the first signal to stop; a second one, a while later, ends at once. */
function stopSignal(log: ReturnType<typeof openLog>): Promise<void> {
  return new Promise((resolve) => {
    let firstMs = 0
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (firstMs === 0) {
          firstMs = Date.now()
          resolve()
        } else if (Date.now() - firstMs > SAME_SIGNAL_MS) {
          log.warn('A second signal: ending at once.')
          process.exit(1)
        }
      })
    }
  })
}

/** That of the first start; in a cluster without it, the first by name of an SVM that serves objects. */
async function firstInterface(cluster: ReturnType<typeof openCluster>): Promise<string | null> {
  const svm = await cluster.keyOfName('svm/svms', 'svm1')
  const uuid = svm === undefined ? undefined : await cluster.keyOfName('network/ip/interfaces', 'svm1_data1', svm)
  if (uuid !== undefined) return uuid
  const serving = new Set((await cluster.rows('protocols/s3/services')).map((server) => server['svm.uuid']))
  const candidates = (await cluster.rows('network/ip/interfaces'))
    .filter((one) => serving.has(one['svm.uuid']))
    .toSorted((a, b) => (a['name'] < b['name'] ? -1 : 1))
  return candidates[0] === undefined ? null : candidates[0]['uuid']
}

async function within(ms: number, act: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  await Promise.race([act, new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))])
  clearTimeout(timer)
}
