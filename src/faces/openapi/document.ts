/** The OpenAPI 3.1 document, derived from the declarations: nothing in it is written by hand twice. */
import type { Cluster } from '../../core/cluster.ts'
import { isServed, printRelease } from '../../model/release.ts'
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
  const { release } = cluster
  const served = [...cluster.behaviours.values()].filter(({ resource }) => isServed(resource.since, release))
  const paths: Record<string, Document> = {}
  const schemas: Record<string, Json> = { ...SHARED_SCHEMAS }
  for (const behaviour of served) {
    const { resource, create, modify, remove } = behaviour
    const name = schemaName(resource)
    schemas[name] = recordSchema(resource, release)
    if (!resource.isSingleton) schemas[`${name}_page`] = page(schemaOf(name))
    if (create !== undefined || modify !== undefined || remove !== undefined)
      schemas[`${name}_written`] = written(schemaOf(name))
    if (create !== undefined) schemas[`${name}_create`] = draftSchema(resource, release, 'create')
    if (modify !== undefined) schemas[`${name}_modify`] = draftSchema(resource, release, 'modify')
    for (const path of [resource.path, ...resource.aliases])
      Object.assign(paths, operationsOf(behaviour, path, release))
  }
  const tags = [...new Set(served.map(({ resource }) => tagOf(resource)))]
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
    paths,
    components: {
      securitySchemes: {
        basic: { type: 'http', scheme: 'basic', description: 'User name and password.' },
        key: { type: 'http', scheme: 'bearer', description: 'A key from /security/authentication/keys.' },
      },
      schemas,
      parameters: SHARED_PARAMETERS,
      responses: ERROR_RESPONSES,
    },
  }
}
