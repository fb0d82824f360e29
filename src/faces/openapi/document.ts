/** The OpenAPI 3.1 document, derived from the declarations: nothing in it is written by hand twice. */
import type { Behaviour } from '../../core/behaviour.ts'
import type { Cluster } from '../../core/cluster.ts'
import { isServed, printRelease, type Release } from '../../model/release.ts'
import type { Json } from '../../model/value.ts'
import { operationsOf, tagOf } from './operations.ts'
import { SHARED_PARAMETERS } from './parameters.ts'
import { ERROR_RESPONSES } from './responses.ts'
import {
  type Document,
  draftSchema,
  page,
  recordSchema,
  schemaName,
  schemaOf,
  SHARED_SCHEMAS,
  written,
} from './schemas.ts'

export function openApi(cluster: Cluster): Document {
  const paths: Record<string, Document> = {}
  const schemas: Record<string, Json> = { ...SHARED_SCHEMAS }
  for (const behaviour of servedBy(cluster)) {
    Object.assign(schemas, schemasOf(behaviour, cluster.release))
    Object.assign(paths, pathsOf(behaviour, cluster.release))
  }
  return { ...head(cluster), paths, components: { ...SHARED_COMPONENTS, schemas } }
}

/**
 * The same as UTF-8 JSON. It is made of hundreds of resources, which takes a tenth of a second, so it is made a
 * resource at a time, and others have their turns between them.
 */
export async function printOpenApi(cluster: Cluster): Promise<Buffer> {
  const schemas = new Map(Object.entries(SHARED_SCHEMAS).map(([name, schema]) => [name, JSON.stringify(schema)]))
  const paths = new Map<string, string>()
  const print = (into: Map<string, string>, members: Readonly<Record<string, Json | Document>>) => {
    for (const [name, value] of Object.entries(members)) into.set(name, JSON.stringify(value))
  }
  for (const behaviour of servedBy(cluster)) {
    print(schemas, schemasOf(behaviour, cluster.release))
    print(paths, pathsOf(behaviour, cluster.release))
    await cluster.system.turn()
  }
  const object = (members: Iterable<readonly [string, string]>) =>
    `{${[...members].map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`
  const texts = (document: Document) =>
    Object.entries(document).map(([name, value]) => [name, JSON.stringify(value)] as const)
  const components = object([...texts(SHARED_COMPONENTS), ['schemas', object(schemas)]])
  return Buffer.from(object([...texts(head(cluster)), ['paths', object(paths)], ['components', components]]))
}

const SHARED_COMPONENTS: Document = {
  securitySchemes: {
    basic: { type: 'http', scheme: 'basic', description: 'User name and password.' },
    key: { type: 'http', scheme: 'bearer', description: 'A key from /security/authentication/keys.' },
  },
  parameters: SHARED_PARAMETERS,
  responses: ERROR_RESPONSES,
}

function servedBy({ behaviours, release }: Cluster): readonly Behaviour[] {
  return [...behaviours.values()].filter(({ resource }) => isServed(resource.since, release))
}

function head(cluster: Cluster): Document {
  const { release } = cluster
  const tags = [...new Set(servedBy(cluster).map(({ resource }) => tagOf(resource)))]
  return {
    openapi: '3.1.0',
    info: {
      title: 'Holdfast management interface',
      version: printRelease(release),
      description:
        'Management of a storage cluster. Any field of a record is a query argument too, as a filter: `size=>1g`, `name=vol*|db*`, `state=!online`, `comment=null`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/api' }],
    security: [{ basic: [] }, { key: [] }],
    tags: tags.map((name) => ({ name, description: `Everything below \`/api/${name}\`.` })),
  }
}

function schemasOf(behaviour: Behaviour, release: Release): Record<string, Json> {
  const { resource, create, modify, remove } = behaviour
  const name = schemaName(resource)
  const isWritten = create !== undefined || modify !== undefined || remove !== undefined
  return {
    [name]: recordSchema(behaviour, release),
    ...(resource.isSingleton ? {} : { [`${name}_page`]: page(schemaOf(name)) }),
    ...(isWritten ? { [`${name}_written`]: written(schemaOf(name)) } : {}),
    ...(create === undefined ? {} : { [`${name}_create`]: draftSchema(resource, release, 'create') }),
    ...(modify === undefined ? {} : { [`${name}_modify`]: draftSchema(resource, release, 'modify') }),
  }
}

function pathsOf(behaviour: Behaviour, release: Release): Record<string, Document> {
  const { path, aliases } = behaviour.resource
  return Object.assign({}, ...[path, ...aliases].map((each) => operationsOf(behaviour, each, release))) as Record<
    string,
    Document
  >
}
