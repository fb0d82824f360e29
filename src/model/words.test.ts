import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plural, withArticle } from './words.ts'

test('nouns get the article that they are spoken with', () => {
  for (const noun of [
    'an SVM',
    'an NTP server',
    'an object',
    'an IPspace',
    'an export policy',
    'a UNIX user',
    'a QoS policy',
    'a user',
    'a volume',
  ])
    assert.equal(withArticle(noun.replace(/^an? /, '')), noun)
})

test('nouns get their plural', () => {
  for (const [one, many] of [
    ['volume', 'volumes'],
    ['export policy', 'export policies'],
    ['alias', 'aliases'],
    ['key', 'keys'],
    ['security settings', 'security settings'],
  ] as const)
    assert.equal(plural(one), many)
})
