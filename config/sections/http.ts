import * as v from 'valibot'
import { parseRange } from '../address-ranges.ts'
import { consoleExamples } from '../console-examples.ts'
import { flag, text, textList } from '../fields.ts'
import type { Source } from '../source.ts'
import type { HttpConfig } from '../types.ts'

export const httpSchema = v.object({
  cors_origins: textList(['http://localhost']),
  session_url: text('', {
    test: isSessionUrl,
    text: 'must be an http:// or https:// URL with {session_id} in it, without user',
  }),
  trusted_proxies: v.pipe(
    textList([]),
    v.check(
      (ranges) => ranges.every((range) => parseRange(range) !== null),
      'must be a list of IP addresses and ranges such as 10.0.0.0/8, none of them of all addresses',
    ),
  ),
  console: flag(true),
  console_examples: consoleExamples,
})

export const readHttp = (source: Source): HttpConfig => source.section('http', httpSchema).values

/** The placeholder must stand behind the host, so that a link always leads to the server that the operator named. */
function isSessionUrl(value: string): boolean {
  if (value === '') return true
  const id = '00000000-0000-4000-8000-000000000000'
  const filled = value.replaceAll('{session_id}', id)
  if (filled === value || !URL.canParse(filled)) return false
  const url = new URL(filled)
  const behindHost = `${url.pathname}${url.search}${url.hash}`.includes(id) && !url.host.includes(id)
  return ['http:', 'https:'].includes(url.protocol) && url.username + url.password === '' && behindHost
}
