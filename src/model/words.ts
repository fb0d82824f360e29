/** English around the nouns of resources. */

/** `a volume`, `an object store user`; by the sound of abbreviations too: `an SVM`, `an NTP server`. */
export function withArticle(noun: string): string {
  const [first = ''] = noun.split(' ')
  const isSpelled = first.length > 1 && first === first.toUpperCase()
  const startsWithVowel = isSpelled ? /^[AEFHILMNORSX]/.test(first) : /^[aeio]|^u[np](?!i)/i.test(first)
  return `${startsWithVowel ? 'an' : 'a'} ${noun}`
}

export function plural(noun: string): string {
  if (/(settings|metrics|statistics|messages|privileges)$/.test(noun)) return noun
  if (/(s|x|ch|sh)$/.test(noun)) return `${noun}es`
  if (/[^aeiou]y$/.test(noun)) return `${noun.slice(0, -1)}ies`
  return `${noun}s`
}
