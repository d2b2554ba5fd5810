import { describe, expect, it } from 'vitest'
import { UsageError } from '../../../dev/command.ts'
import { readOptions } from '../../../eval/options.ts'

describe('the options of --hand', () => {
  it.each<[string, object]>([
    ['--hand', { task: { kind: 'play' }, autoStatus: true, port: undefined }],
    ['--hand --serve --port 18777 --no-auto-status', { task: { kind: 'serve' }, autoStatus: false, port: 18_777 }],
    ['--hand --next --wait 100', { task: { kind: 'next', waitS: 100, whole: false } }],
    ['--hand --answer 3 answer.json', { task: { kind: 'answer', call: 3, file: 'answer.json' } }],
    ['--hand --answer 3 -', { task: { kind: 'answer', call: 3, file: '-' } }],
    ['--hand --show 3 --whole', { task: { kind: 'show', call: 3, whole: true } }],
    ['--hand --stats --folder /tmp/hand', { task: { kind: 'stats' }, folder: '/tmp/hand' }],
  ])('%s', (line, expected) => {
    expect(readOptions(line.split(' '))?.hand).toMatchObject(expected)
  })

  it('play one round at a time unless more are wanted, with a day for each sample', () => {
    expect(readOptions(['--hand'])).toMatchObject({ concurrency: 1, limitS: 86_400 })
    expect(readOptions(['--hand', '--concurrency', '2'])).toMatchObject({ concurrency: 2 })
    expect(readOptions([])).toMatchObject({ hand: null })
  })

  it.each([
    '--next',
    '--hand --scripted',
    '--hand --next --stats',
    '--hand --answer 3',
    '--hand --answer x file',
    '--hand --next more',
    'more',
  ])('%s is refused', (line) => {
    expect(() => readOptions(line.split(' '))).toThrow(UsageError)
  })
})
