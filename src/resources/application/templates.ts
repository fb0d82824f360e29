import { type Behaviour, define } from '../../core/behaviour.ts'
import { oneOf, text } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'

const applicationTemplatesResource = resource({
  path: '/application/templates',
  noun: 'application template',
  doc: 'What applications are made from.',
  key: ['name'],
  recordKey: ['name'],
  nameWithin: false,
  fields: {
    name: { doc: 'The name of the template.', kind: oneOf('nas') },
    description: { doc: 'What it makes.', kind: text() },
    missing_prerequisites: { doc: 'What has to be made first. Empty: nothing.', kind: text() },
    protocol: { doc: 'How what it makes is reached.', kind: oneOf('nas') },
  },
})

export const applicationTemplates: Behaviour<typeof applicationTemplatesResource> = define(
  applicationTemplatesResource,
  {
    rows: () =>
      Promise.resolve([
        {
          name: 'nas',
          description: 'Volumes for files, with their export policies and shares.',
          missing_prerequisites: '',
          protocol: 'nas',
        },
      ]),
  },
)
