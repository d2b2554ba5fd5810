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
    times: null,
  })
})

test('the clock of the model: the usual times, or others', () => {
  const usual = { first_token: 800, input_token: 0.05, cached_token: 0.005, output_token: 15 }
  expect(readOptions(['--model-clock'])).toMatchObject({ times: usual })
  expect(readOptions(['--model-clock', '--json'])).toMatchObject({ times: usual, json: true })
  const times = { first_token: 1, input_token: 2, cached_token: 3, output_token: 4 }
  expect(readOptions(['--model-clock', '1,2,3,4'])).toMatchObject({ times })
  expect(readOptions(['--model-clock=1,2,3,4'])).toMatchObject({ times })
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
  [['--model-clock', '1,2'], /four numbers/],
  [['--unknown'], /--unknown/],
  [['positional'], /positional/],
])('%j is refused with a text', (args, text) => {
  expect(() => readOptions(args)).toThrow(UsageError)
  expect(() => readOptions(args)).toThrow(text)
})
