import { type Behaviour, define } from '../../core/behaviour.ts'
import { oneOf, text } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'

const applicationTemplatesResource = resource({
  path: '/application/templates',
  noun: 'application template',
  doc: 'Templates of applications.',
  key: ['name'],
  recordKey: ['name'],
  nameWithin: false,
  fields: {
    name: { doc: 'The name of the template.', kind: oneOf({ nas: 'Volumes for NFS and SMB.' }) },
    description: { doc: 'A sentence that describes the template.', kind: text() },
    missing_prerequisites: {
      doc: 'The objects that must be created before the application. Empty: none.',
      kind: text(),
    },
    protocol: { doc: 'The protocol of applications of the template.', kind: oneOf({ nas: 'NFS and SMB.' }) },
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
