import { failure, type Failure } from '../../model/failure.ts'

/** Which passwords are too easy to guess. */

export const PASSWORD_CHARACTERS_MIN = 8
/** From this length on, a phrase needs no digit. */
const PHRASE_CHARACTERS_MIN = 12
/** Different characters of a phrase: `aaaaaaaaaaaa` is long, and guessed at once. */
const PHRASE_DIFFERENT_MIN = 6
/** A shorter name is in too many words to be kept out of passwords. */
const NAME_IN_PASSWORD_CHARACTERS_MIN = 3

/** Why the password is too easy to guess for this user, if it is. Its length alone is checked by the field. */
export function passwordProblem(user: string, password: string): Failure | undefined {
  const lower = password.toLowerCase()
  if (user.length >= NAME_IN_PASSWORD_CHARACTERS_MIN && lower.includes(user.toLowerCase())) {
    return failure('passwordHasUserName')
  }
  const hasLetter = /\p{L}/u.test(password)
  const isPhrase = password.length >= PHRASE_CHARACTERS_MIN && new Set(password).size >= PHRASE_DIFFERENT_MIN
  if (password.length < PASSWORD_CHARACTERS_MIN || !hasLetter || !(isPhrase || /\d/.test(password))) {
    return failure('passwordTooSimple', { characters: PHRASE_CHARACTERS_MIN, different: PHRASE_DIFFERENT_MIN })
  }
  if (!COMMONEST.has(lower)) return undefined
  return failure('passwordTooCommon')
}

/** In lower case. Those of published lists of the most frequent ones that the rules above let pass. */
const COMMONEST: ReadonlySet<string> = new Set(
  `1234567890a 12345678a 123456789a 1234abcd 1g2w3e4r 1q2w3e4r 1q2w3e4r5t 1qaz2wsx 1qaz@wsx a1234567 a12345678 a123456789
  aa123456 aa12345678 abc12345 abc123456 abcd1234 abcdefghijkl abcdefghijklm admin123 admin1234 admin12345 adminadmin1
  administrator asdf1234 asdfghjkl1 baseball1 changeme1 changeme123 charlie1 default1 dragon123 football1 football123
  g00dpassword holdfast1 iloveyou1 iloveyou2 letmein1 letmein123 login123 master123 michael1 monkey123 p@ssw0rd p@ssword1
  passw0rd passw0rd1 password0 password1 password1! password12 password123 password1234 password2 passwordpassword
  passwort1 passwort123 princess1 q1w2e3r4 q1w2e3r4t5 qazwsx123 qwer1234 qwerty12 qwerty123 qwerty1234 qwertyuiop1
  qwertyuiopasdfghjkl root1234 secret123 shadow123 sunshine1 superman1 test1234 test12345 trustno1 welcome1 welcome123
  zaq12wsx zaq1zaq1`.split(/\s+/),
)
