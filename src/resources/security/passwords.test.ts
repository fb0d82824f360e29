import assert from 'node:assert/strict'
import { test } from 'node:test'
import { passwordProblem } from './passwords.ts'
import { codeOf } from '../../model/failure.ts'

const isRefused = (password: string, user = 'berta') => passwordProblem(user, password) !== undefined

test('a password has a letter and a digit, or is a phrase', () => {
  for (const easy of [
    'abcdefgh',
    '12345678',
    '!!!!!!!!1',
    'short1',
    'aaaaaaaaaaaaaaaa',
    '123456789012',
    'a password',
  ]) {
    assert.ok(isRefused(easy), easy)
  }
  for (const fine of ['netapp1!', 'x7kkkkkk', 'correct horse battery', 'pässwörter-9', 'a long password']) {
    assert.ok(!isRefused(fine), fine)
  }
})

test('the commonest passwords and the name of the user are refused in any case', () => {
  for (const easy of ['Password1', 'P@ssw0rd', 'QWERTY123', 'PasswordPassword', 'Welcome123']) {
    assert.equal(passwordProblem('berta', easy)?.code, 7_077_920, easy)
  }
  for (const named of ['xxBERTAxx9', 'berta2026!'])
    assert.equal(passwordProblem('berta', named)?.code, codeOf('passwordHasUserName'), named)
  assert.ok(!isRefused('al2026 or so', 'al'), 'a name of two letters is in too many words')
})
