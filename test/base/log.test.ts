import { expect, it } from 'vitest'
import { createLogger } from '../../src/base/log.ts'

const KEY = '{"private_key": "-----BEGIN\nabc\n"}'

it.each([
  ['as it is', ['hunter2-hunter2'], 'a hunter2-hunter2 b', 'a *** b'],
  ['with quotes and line feeds', [KEY], `a ${KEY} b`, 'a *** b'],
  ['inside of JSON', [KEY], `a ${JSON.stringify({ KEY })} b`, 'a {"KEY":"***"} b'],
  ['that begins like another', ['secret-1', 'secret-1-long'], 'a secret-1-long secret-1 b', 'a *** *** b'],
])('hides a secret %s', (_, secrets, told, shown) => {
  const lines: string[] = []
  createLogger({ secrets, write: (line) => void lines.push(line) }).warn('told', { told })
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ message: 'told', told: shown })
})
