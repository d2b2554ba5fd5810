import { expect, test } from 'vitest'
import { UsageError } from '../../../dev/command.ts'
import { HELP, MODES, readOptions } from '../../../dev/demo/options.ts'

test('defaults: the recorded generate request, all embedded', () => {
  const place = { repo: null, scope: '123456789012', cloud: 'aws', iac_path: null }
  const flags = { json: false, trace: false, keep: false, output: false, embedded: true }
  expect(readOptions([])).toEqual({
    mode: 'generate',
    request: null,
    ...place,
    ...flags,
    data: undefined,
    limitS: null,
  })
})

test.each([...MODES, 'all'])('the mode %s is known and in the help', (mode) => {
  expect(readOptions(['--mode', mode, '--json'])).toMatchObject({ mode, json: true, embedded: true })
  expect(HELP).toMatch(new RegExp(`^ +${mode} +\\S`, 'm'))
})

test('a request of one’s own may use real services', () => {
  const options = readOptions(['--mode', 'partial-drift', '--request', 'x', '--repo', 'https://h/o/r', '--limit', '5'])
  expect(options).toMatchObject({ request: 'x', repo: 'https://h/o/r', embedded: false, limitS: 5 })
})

test('help', () => {
  expect(readOptions(['--help'])).toBeNull()
})

test.each([
  [['--mode', 'everything'], /no mode 'everything'.*generate.*exhausted, all/],
  [['--mode', 'all', '--request', 'x'], /--mode all.*no --request/],
  [['--mode', 'blocked', '--scope', 'x'], /--mode blocked.*no --scope/],
  [['--limit', 'soon'], /--limit must be greater than 0/],
  [['--unknown'], /--unknown/],
  [['positional'], /positional/],
])('%j is refused with a text', (args, text) => {
  expect(() => readOptions(args)).toThrow(UsageError)
  expect(() => readOptions(args)).toThrow(text)
})
