/** By which ways an account may log in, and how it shows who it is there. */
import { failure } from '../../../model/failure.ts'
import { each, list, oneOf, type ValueOf } from '../../../model/kinds/index.ts'

const APPLICATIONS_MAX = 16

/** Tools call it `service-processor` too, as the command line does. */
function application() {
  const kind = oneOf({
    http: 'This interface.',
    ssh: 'SSH.',
    console: 'The console of the machine.',
    ontapi: 'The XML interface.',
    service_processor: 'The service processor of the machine.',
    amqp: 'AMQP.',
    rsh: 'RSH.',
    telnet: 'Telnet.',
  })
  return { ...kind, parse: (value: unknown) => kind.parse(value === 'service-processor' ? 'service_processor' : value) }
}

export const applicationsKind = () =>
  each(
    {
      application: {
        kind: application(),
        doc: 'The application of the login. Only `http` is served: this interface.',
        required: true,
      },
      authentication_methods: {
        kind: list(
          oneOf({
            password: 'A password.',
            publickey: 'An SSH key.',
            domain: 'An Active Directory domain.',
            nsswitch: 'LDAP or NIS.',
            certificate: 'A client certificate.',
            saml: 'SAML.',
          }),
          { elementsMax: 8 },
        ),
        doc: 'The authentication methods of the login.',
        required: true,
      },
      second_authentication_method: {
        kind: oneOf({
          none: 'No second method.',
          password: 'A password.',
          publickey: 'An SSH key.',
          nsswitch: 'LDAP or NIS.',
          domain: 'An Active Directory domain.',
          totp: 'A one-time password.',
        }),
        doc: 'The second authentication method of a login by SSH.',
      },
    },
    { elementsMax: APPLICATIONS_MAX },
  )

export type Application = ValueOf<ReturnType<typeof applicationsKind>>[number]

/** Those of an account that says nothing: this interface, with its password. */
export const USUAL_APPLICATIONS: readonly Application[] = [
  { application: 'http', authentication_methods: ['password'], second_authentication_method: 'none' },
]

/** Whole, each application once. */
export function settledApplications(given: readonly Application[] | undefined): readonly Application[] {
  const applications = (given ?? USUAL_APPLICATIONS).map((each): Application =>
    Object.assign({ second_authentication_method: 'none' } as const, each),
  )
  if (applications.length === 0) throw failure('applicationsMissing')
  for (const [at, each] of applications.entries()) {
    if (applications.findIndex((other) => other['application'] === each['application']) !== at) {
      throw failure('applicationTwice')
    }
    if (each['authentication_methods'].length === 0) {
      throw failure('methodsMissing')
    }
    if (each['second_authentication_method'] !== 'none' && each['application'] !== 'ssh') {
      throw failure('secondMethodUnfit')
    }
  }
  return applications
}

export function usesPassword(applications: readonly Application[]): boolean {
  return applications.some((each) => hasPassword(each) || each['second_authentication_method'] === 'password')
}

function hasPassword(application: Application): boolean {
  return application['authentication_methods'].includes('password')
}
