import { describe, expect, it } from 'vitest'
import * as format from '../../../console/ui/words.ts'
import { repositoryName, shorten, visibleText } from '../../../console/ui/words.ts'

describe('formats', () => {
  it.each([
    [null, 'unknown'],
    [0, '$0.00'],
    [0.0042, '$0.0042'],
    [0.0999, '$0.0999'],
    [0.1, '$0.10'],
    [1234.5, '$1,234.50'],
  ])('%s dollars: %s', (usd, text) => expect(format.formatMoney(usd)).toBe(text))

  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1_000, '1.0 kB'],
    [123_456, '123 kB'],
    [999_999, '1.0 MB'],
    [1_240_000, '1.2 MB'],
    [5e12, '5000 GB'],
  ])('%s bytes: %s', (bytes, text) => expect(format.formatBytes(bytes)).toBe(text))

  it.each([
    [-3, '0.0 s'],
    [0.84, '0.8 s'],
    [9.99, '10 s'],
    [59.6, '1 min 0 s'],
    [200, '3 min 20 s'],
    [3_599.7, '1 h 0 min'],
    [7_500, '2 h 5 min'],
  ])('%s seconds: %s', (seconds, text) => expect(format.formatSeconds(seconds)).toBe(text))

  const NOW = Date.parse('2026-03-01T12:00:00Z')
  it.each([
    ['2026-03-01T12:10:00Z', 'now'],
    ['2026-03-01T11:59:57Z', 'now'],
    ['2026-03-01T11:59:20Z', '40 sec ago'],
    ['2026-03-01T11:55:00Z', '5 min ago'],
    ['2026-02-28T12:00:00Z', 'yesterday'],
    ['2025-02-01T12:00:00Z', 'last yr'],
  ])('%s is %s', (iso, text) => expect(format.formatAgo(iso, NOW)).toBe(text))

  it('counts', () => {
    expect([format.plural(1, 'resource'), format.plural(1_200, 'resource')]).toEqual(['1 resource', '1,200 resources'])
    expect(format.plural(0, 'entry', 'entries')).toBe('0 entries')
  })
})

describe('texts of others', () => {
  it('show what could mislead, and stay as they are otherwise', () => {
    expect(visibleText('a\u0000b\u001b[31m\u007f\u202Egnp.exe\u0085\ufeff')).toBe(
      'a␀b␛[31m␡⟨U+202E⟩gnp.exe⟨U+0085⟩⟨U+FEFF⟩',
    )
    expect(visibleText('שלום 😀\tz\n<b>')).toBe('שלום 😀\tz\n<b>')
  })

  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['ab😀d', 3, 'ab…'],
    ['Keeps whole words', 14, 'Keeps whole…'],
  ])('shorten %s to %s: %s', (text, length, short) => {
    expect(shorten(text, length)).toBe(short)
    expect(shorten(text, length).isWellFormed()).toBe(true)
  })

  it.each([
    ['https://git.example.com/acme/infrastructure.git', 'acme/infrastructure'],
    ['https://git.example.com/acme/infrastructure/', 'acme/infrastructure'],
    ['https://git.example.com/acme/infrastructure.git/', 'acme/infrastructure'],
    ['git@host:acme/x.git', 'git@host:acme/x.git'],
    ['', ''],
  ])('repository %s: %s', (uri, name) => expect(repositoryName(uri)).toBe(name))
})
