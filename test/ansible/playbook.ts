/**
 * Runs the cases of modules as one playbook. Each module is a host of its own, so that modules go on beside each other
 * while the tasks of one follow in order; what fails is noted, and the next task is tried all the same.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Run } from '../clients/programs.ts'
import type { Product } from '../support/product.ts'
import type { Arguments, Case, ModuleCases, Task } from './cases.ts'

/** What a task is to say of itself. `undefined`: as long as it does not fail, it may say what it likes. */
interface Step {
  readonly name: string
  readonly task: Task
  readonly isChanged: boolean | undefined
}

export interface StepResult {
  /** `create`, `create again`, `read 1`. */
  readonly step: string
  /** What is wrong with it. Undefined: it is as it should be. */
  readonly problem: string | undefined
  /** What `na_ontap_rest_info` found: records by subset, or a message in their place. */
  readonly found: Readonly<Record<string, unknown>> | undefined
}

export interface CaseResult {
  readonly module: string
  readonly case: Case
  readonly steps: readonly StepResult[]
}

const RUN_MS = 1_200_000
/** Modules at once: more than there are cores, because they wait for jobs. */
const FORKS = 4

export async function runCases(
  run: Run,
  product: Product,
  folder: string,
  modules: readonly ModuleCases[],
): Promise<CaseResult[]> {
  await mkdir(folder, { recursive: true })
  const inventory = modules.map(({ module }) => `${module}\n`).join('')
  await writeFile(join(folder, 'hosts'), inventory)
  for (const { module, cases } of modules) {
    const tasks = cases.flatMap((one, at) =>
      stepsOf(module, one).map(({ name, task }) => lenient(task, taskName(module, at, name))),
    )
    await writeFile(join(folder, `${module}.json`), JSON.stringify(tasks))
  }
  await writeFile(join(folder, 'playbook.json'), JSON.stringify(playbook(product)))
  const { stdout } = await run('ansible-playbook', ['-i', 'hosts', 'playbook.json'], {
    timeoutMs: RUN_MS,
    folder,
    environment: {
      ANSIBLE_STDOUT_CALLBACK: 'ansible.posix.json',
      ANSIBLE_FORKS: String(FORKS),
      ANSIBLE_PIPELINING: 'True',
      ANSIBLE_PYTHON_INTERPRETER: '/usr/bin/python3',
      ANSIBLE_NOCOLOR: '1',
    },
  })
  const said = answers(stdout)
  return modules.flatMap(({ module, cases }) =>
    cases.map((one, at) => ({
      module,
      case: one,
      steps: stepsOf(module, one).map((step) => judge(step, said.get(taskName(module, at, step.name)))),
    })),
  )
}

/** Every module gets the connection from here, those of `before` and `after` too. */
function playbook(product: Product): unknown {
  return [
    {
      hosts: 'all',
      connection: 'local',
      gather_facts: false,
      strategy: 'free',
      module_defaults: {
        'group/netapp.ontap.netapp_ontap': {
          hostname: '127.0.0.1',
          http_port: Number(new URL(product.management).port),
          https: true,
          validate_certs: false,
          use_rest: 'always',
          username: product.user,
          password: product.password,
        },
      },
      tasks: [{ include_tasks: '{{ inventory_hostname }}.json' }],
    },
  ]
}

/** What fails is noted, and does not end the host. */
function lenient(task: Task, name: string): Task {
  return { ...task, name, ignore_errors: true }
}

const taskName = (module: string, at: number, step: string) => `${module} ${at}: ${step}`

function stepsOf(module: string, one: Case): Step[] {
  const call = (given: Arguments): Task => ({ [`netapp.ontap.${module}`]: given })
  const twice = (name: string, given: Arguments | undefined): Step[] =>
    given === undefined
      ? []
      : [
          { name, task: call(given), isChanged: true },
          { name: `${name} again`, task: call(given), isChanged: false },
        ]
  const many = (name: string, tasks: readonly Task[] | undefined, isChanged?: boolean): Step[] =>
    (tasks ?? []).map((task, at) => ({ name: `${name} ${at + 1}`, task, isChanged }))
  return [
    ...many('before', one.before),
    ...twice('create', one.create),
    ...twice('modify', one.modify === undefined ? undefined : { ...one.create, ...one.modify }),
    ...many('read', one.reads?.map(call), false),
    ...many('act', one.acts?.map(call), true),
    ...twice('remove', one.remove),
    ...many('after', one.after),
  ]
}

interface Answer {
  readonly changed?: boolean
  readonly failed?: boolean
  readonly msg?: unknown
  readonly modify?: unknown
  /** Of a module that broke: its last line says how. */
  readonly module_stderr?: string
  readonly ontap_info?: Readonly<Record<string, unknown>>
}

interface Output {
  readonly plays: readonly {
    readonly tasks: readonly {
      readonly task: { readonly name: string }
      readonly hosts: Readonly<Record<string, Answer>>
    }[]
  }[]
}

function answers(stdout: string): ReadonlyMap<string, Answer> {
  const { plays } = JSON.parse(stdout) as Output
  return new Map(
    plays.flatMap(({ tasks }) =>
      tasks.flatMap(({ task, hosts }) => Object.values(hosts).map((answer) => [task.name, answer] as const)),
    ),
  )
}

function judge({ name, isChanged }: Step, answer: Answer | undefined): StepResult {
  return { step: name, problem: problemWith(answer, isChanged), found: answer?.ontap_info }
}

function problemWith(answer: Answer | undefined, isChanged: boolean | undefined): string | undefined {
  if (answer === undefined) return 'was not run'
  if (answer.failed === true) return `failed: ${inWords(answer)}`
  if (isChanged === undefined || answer.changed === isChanged) return undefined
  return isChanged ? 'changed nothing' : `changed something: ${JSON.stringify(answer.modify ?? answer)}`
}

function inWords({ msg, module_stderr: stderr }: Answer): string {
  const said = typeof msg === 'string' ? msg : JSON.stringify(msg)
  return stderr === undefined ? said : `${said} ${stderr.trim().split('\n').at(-1) ?? ''}`
}
