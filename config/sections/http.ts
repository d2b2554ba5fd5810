import * as v from 'valibot'
import { parseRange } from '../address-ranges.ts'
import { flag, text, textList } from '../fields.ts'
import type { Source } from '../source.ts'

/** A request to start from, as `POST /api/v1/iac/<mode>` takes it. */
export type ConsoleExample = v.InferOutput<typeof example>

const shape = (issue: { expected: string | null }) =>
  issue.expected === 'Object' ? 'must be a mapping' : 'is required'
const filled = v.pipe(v.string('must be a string'), v.trim(), v.nonEmpty('must not be empty'))
const yes = v.optional(v.boolean('must be true or false'), false)
const oneOf = <const T extends readonly string[]>(...names: T) =>
  v.picklist(names, `must be one of ${names.join(', ')}`)

const example = v.object(
  {
    mode: oneOf('generate', 'drift', 'import'),
    text: filled,
    repo_uri: filled,
    iac_path: v.optional(v.string('must be a string'), ''),
    scope_id: filled,
    engine_providers: oneOf('azure', 'gcp', 'aws', 'oci', 'kubernetes'),
    is_partial: yes,
    preview: yes,
  },
  shape,
)

export const httpSchema = v.object({
  cors_origins: textList(['http://localhost']),
  /** URL of the page of a session with `{session_id}` in it. Pull requests link to it when it is set. */
  session_url: text('', {
    test: isSessionUrl,
    text: 'must be an http:// or https:// URL with {session_id} in it, without user',
  }),
  /** Addresses and ranges of the proxies whose `X-Forwarded-For` is believed. */
  trusted_proxies: v.pipe(
    textList([]),
    v.check(
      (ranges) => ranges.every((range) => parseRange(range) !== null),
      'must be a list of IP addresses and ranges such as 10.0.0.0/8, none of them of all addresses',
    ),
  ),
  /** True: the core serves the console at `/console/`. */
  console: flag(true),
  /** Requests that the first screen of the console offers. */
  console_examples: v.optional(v.array(example, 'must be a list'), () => []),
})

export const readHttp = (source: Source) => source.section('http', httpSchema).values

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
