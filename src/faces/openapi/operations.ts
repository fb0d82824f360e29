/** Operations of the OpenAPI document: what can be done at the paths of a resource. */
import type { Behaviour } from '../../core/behaviour.ts'
import type { Verb } from '../../core/verb.ts'
import type { Release } from '../../model/release.ts'
import type { Resource } from '../../model/resource.ts'
import type { Json } from '../../model/value.ts'
import { plural, withArticle } from '../../model/words.ts'
import { asJson, exampleChange, exampleOfMany, sampleOf } from './examples.ts'
import {
  fieldsArgument,
  MANY_QUERY,
  ownQuery,
  PAGE_QUERY,
  pathParameters,
  queryArgument,
  READ_QUERY,
  WRITE_QUERY,
} from './parameters.ts'
import { answer, errorsOf } from './responses.ts'
import { type Document, manyBody, schemaName, schemaOf } from './schemas.ts'

/** The operations at one of the paths of a resource, by path. */
export function operationsOf(behaviour: Behaviour, path: string, release: Release): Record<string, Document> {
  const { resource, create, modify, remove } = behaviour
  const operations = new Operations(behaviour, path, release)
  const collection = documentPath(path)
  if (resource.isSingleton) {
    return {
      [collection]: {
        parameters: pathParameters(resource, resource.pathKeys),
        get: operations.get(),
        ...(modify === undefined ? {} : { patch: operations.modify(modify) }),
      },
    }
  }
  return {
    [collection]: {
      parameters: pathParameters(resource, resource.pathKeys),
      get: operations.list(),
      ...(create === undefined ? {} : { [resource.createMethod.toLowerCase()]: operations.create(create) }),
      ...(modify === undefined ? {} : { patch: operations.modifyMany(modify) }),
      ...(remove === undefined ? {} : { delete: operations.removeMany(remove) }),
    },
    [documentPath(`${path}/${resource.key.map((key) => `{${key}}`).join('/')}`)]: {
      parameters: pathParameters(resource, [...resource.pathKeys, ...resource.key]),
      get: operations.get(),
      ...(modify === undefined ? {} : { patch: operations.modify(modify) }),
      ...(remove === undefined ? {} : { delete: operations.remove(remove) }),
    },
  }
}

/** A path as the document has it: many generators take a dot in a parameter for an access to a member. */
export function documentPath(path: string): string {
  return path.replaceAll(/\{[^}]+\}/g, (key) => key.replaceAll('.', '_'))
}

export function tagOf(resource: Resource): string {
  return resource.type.split('/')[0] ?? resource.type
}

class Operations {
  readonly #behaviour: Behaviour
  readonly #resource: Resource
  readonly #path: string
  readonly #release: Release
  readonly #record: Document

  constructor(behaviour: Behaviour, path: string, release: Release) {
    this.#behaviour = behaviour
    this.#resource = behaviour.resource
    this.#path = path
    this.#release = release
    this.#record = schemaOf(schemaName(behaviour.resource))
  }

  /** Resources that are created by PUT take one record at a time. */
  get #takesLists(): boolean {
    return this.#resource.createMethod === 'POST'
  }

  list(): Document {
    const nouns = plural(this.#resource.noun)
    return this.#read('list', schemaOf(`${schemaName(this.#resource)}_page`), {
      summary: `List ${nouns}`,
      description: `${this.#resource.doc}\n\nReturns a page of ${nouns}. Every field is a filter: \`?${this.#resource.key[0] ?? 'name'}=…\`; \`_links.next.href\` leads to the next page.`,
      query: [...PAGE_QUERY, ...ownQuery(this.#behaviour.readArgs, this.#release)],
      done: `A page of ${nouns}.`,
    })
  }

  get(): Document {
    const { noun, isSingleton, doc } = this.#resource
    return this.#read('get', this.#record, {
      summary: isSingleton ? `Read the ${noun}` : `Read ${withArticle(noun)}`,
      description: `${doc}\n\nReturns ${isSingleton ? `the ${noun}` : `one ${noun}`} with the fields that \`fields\` names, or with its usual ones.`,
      query: [],
      done: `The ${noun}.`,
    })
  }

  create(verb: Verb): Document {
    const { noun, createMethod } = this.#resource
    // A PUT answers the record itself, a POST a list of one.
    const made = createMethod === 'PUT' ? this.#record : schemaOf(`${schemaName(this.#resource)}_written`)
    const body = schemaOf(`${schemaName(this.#resource)}_create`)
    return this.#write('create', verb, {
      summary: `Create ${withArticle(noun)}`,
      description: `Creates ${withArticle(noun)}.${jobNote(verb)}${this.#takesLists ? ' A body with `records` creates many at once.' : ''}`,
      query: [],
      body: { required: true, ...jsonBody(body, verb.example) },
      responses: { 201: answer(`The ${noun} was created.`, made), 200: answer('It was there already.', made) },
    })
  }

  modify(verb: Verb): Document {
    const { noun } = this.#resource
    const body = schemaOf(`${schemaName(this.#resource)}_modify`)
    const isSettable = [...this.#resource.fields.values()].some(({ set }) => set === 'always' || set === 'modify')
    const isAllInQuery = Object.keys(verb.args ?? {}).length > 0
    return this.#write('modify', verb, {
      summary: `Change ${this.#resource.isSingleton ? `the ${noun}` : withArticle(noun)}`,
      description: `Changes the fields that the body names and leaves the others as they are.${jobNote(verb)}`,
      query: [],
      ...(isSettable ? { body: { required: !isAllInQuery, ...jsonBody(body, exampleChange(this.#behaviour)) } } : {}),
      responses: { 200: answer(`The ${noun} was changed.`, schemaOf(`${schemaName(this.#resource)}_written`)) },
    })
  }

  remove(verb: Verb): Document {
    const { noun, removal } = this.#resource
    const operation = this.#write('remove', verb, {
      summary: `Delete ${withArticle(noun)}`,
      description: `Deletes ${withArticle(noun)}.${jobNote(verb)}`,
      query: [],
      responses: { 200: answer(`The ${noun} was deleted.`, schemaOf(`${schemaName(this.#resource)}_written`)) },
    })
    return { ...operation, 'x-danger': removal }
  }

  modifyMany(verb: Verb): Document {
    const nouns = plural(this.#resource.noun)
    const change = exampleChange(this.#behaviour)
    const name = `${schemaName(this.#resource)}_modify`
    const body = this.#takesLists
      ? jsonBody(manyBody(name), exampleOfMany(this.#resource, change))
      : jsonBody(schemaOf(name), change)
    return this.#many('modify_many', verb, {
      summary: `Change many ${nouns}`,
      description: `Changes the ${nouns} that the query matches${this.#takesLists ? ', or those that the body lists with their keys' : ''}.`,
      body: { required: true, ...body },
      done: `The ${nouns} were changed.`,
    })
  }

  removeMany(verb: Verb): Document {
    const nouns = plural(this.#resource.noun)
    return this.#many('remove_many', verb, {
      summary: `Delete many ${nouns}`,
      description: `Deletes the ${nouns} that the query matches${this.#takesLists ? ', or those that the body lists by their keys' : ''}.`,
      ...(this.#takesLists
        ? { body: { required: false, ...jsonBody(manyBody(undefined), exampleOfMany(this.#resource)) } }
        : {}),
      done: `The ${nouns} were deleted.`,
    })
  }

  #read(
    name: string,
    schema: Json,
    about: { summary: string; description: string; query: readonly Json[]; done: string },
  ): Document {
    return {
      ...this.#named(name, about),
      parameters: [fieldsArgument(this.#resource, this.#release), ...READ_QUERY, ...about.query],
      responses: { 200: answer(about.done, schema), ...errorsOf('read') },
    }
  }

  #write(
    name: string,
    verb: Verb,
    about: {
      summary: string
      description: string
      query: readonly Json[]
      body?: Document
      responses: Record<string, Json>
    },
  ): Document {
    return {
      ...this.#named(name, about),
      parameters: [...WRITE_QUERY, ...about.query, ...ownQuery(verb.args, this.#release, verb.exampleArgs?.[0])],
      ...(about.body === undefined ? {} : { requestBody: about.body }),
      responses: {
        ...about.responses,
        202: answer('Accepted. Poll the job.', schemaOf(`${schemaName(this.#resource)}_written`)),
        ...errorsOf('write'),
      },
    }
  }

  #many(
    name: string,
    verb: Verb,
    about: { summary: string; description: string; body?: Document; done: string },
  ): Document {
    const key = this.#resource.key.at(-1) ?? 'name'
    const chosen = queryArgument(
      key,
      `Filter: the ${key} of the ${plural(this.#resource.noun)} to write. Any other field is a filter too.`,
      undefined,
      this.#takesLists ? undefined : sampleOf(key),
    )
    const responses = { 200: answer(about.done, schemaOf(`${schemaName(this.#resource)}_written`)) }
    return this.#write(name, verb, { ...about, query: [...MANY_QUERY, chosen], responses })
  }

  #named(name: string, { summary, description }: { summary: string; description: string }): Document {
    const path = this.#path.slice(1).replaceAll(/[^A-Za-z0-9]+/g, '_')
    return { tags: [tagOf(this.#resource)], operationId: `${name}_${path}`, summary, description }
  }
}

function jsonBody(schema: Json, example: Readonly<Record<string, unknown>> | undefined): Document {
  const shown = example === undefined ? {} : { example: asJson(example) }
  return { content: { 'application/json': { schema, ...shown } } }
}

function jobNote({ isJob }: Verb): string {
  if (isJob === true) return ' Runs as a job: the answer is 202 when the job takes longer than `return_timeout`.'
  return isJob === 'when long' ? ' Runs as a job when it takes long.' : ''
}
