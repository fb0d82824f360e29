/** Where what the cluster has to say goes. */
import { Misfit, text, type Kind } from '../../model/kinds/index.ts'

export function mailAddress(): Kind<string> {
  return text({
    charactersMax: 320,
    pattern: /^[^\s@,;<>]{1,64}@[^\s@,;<>]{1,255}$/,
    patternDoc: 'a mail address such as admin@example.com',
  })
}

/**
 * Of a web server or a proxy, perhaps with a port. User and password have fields of their own; an address that has them
 * does not come back in the message.
 */
export function webAddress(): Kind<string> {
  const kind = text({ charactersMax: 1024, pattern: /^(https?:\/\/)?[^\s/@]+(\/[^\s@]*)?$/ })
  return {
    ...kind,
    parse(value) {
      try {
        return kind.parse(value)
      } catch (failure) {
        if (!(failure instanceof Misfit)) throw failure
        throw new Misfit('It takes the address of a web server, such as https://example.com:8080, without a user.')
      }
    },
  }
}

export function hostAddress(): Kind<string> {
  return text({
    charactersMin: 1,
    charactersMax: 255,
    pattern: /^[A-Za-z0-9:]([A-Za-z0-9.:_-]*[A-Za-z0-9:])?$/,
    patternDoc: 'a host name or an IP address',
  })
}
