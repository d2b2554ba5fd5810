import * as v from 'valibot'
import { parseRange } from '../address-ranges.ts'
import { entryText, flag, integer, mappingError, text, textList } from '../fields.ts'
import type { Source } from '../source.ts'

/** An example request, in the form that `POST /api/v1/iac/<mode>` takes. */
export type ConsoleExample = v.InferOutput<typeof example>

const yes = v.optional(v.boolean('must be true or false'), false)
const oneOf = <const T extends readonly string[]>(...names: T) =>
  v.picklist(names, `must be one of ${names.join(', ')}`)

const example = v.object(
  {
    mode: oneOf('generate', 'drift', 'import'),
    text: entryText,
    repo_uri: entryText,
    iac_path: v.optional(v.string('must be a string'), ''),
    scope_id: entryText,
    engine_providers: oneOf('azure', 'gcp', 'aws', 'oci', 'kubernetes'),
    is_partial: yes,
    preview: yes,
  },
  mappingError,
)

export const httpSchema = v.object({
  cors_origins: textList(['http://localhost']),
  /** Names of the core beside `localhost`. Only while sign-in is off are others refused. */
  allowed_hosts: textList([]),
  /** URL of the page of a session, containing `{session_id}`. Pull requests link to it if it is set. */
  session_url: text('', {
    test: isSessionUrl,
    text: 'must be an http:// or https:// URL with {session_id} in it, without user',
  }),
  /** Addresses and ranges of the proxies whose `X-Forwarded-For` is trusted. */
  trusted_proxies: v.pipe(
    textList([]),
    v.check(
      (ranges) => ranges.every((range) => parseRange(range) !== null),
      'must be a list of IP addresses and ranges such as 10.0.0.0/8, none of them of all addresses',
    ),
  ),
  /** True if the core serves the console at `/console/`. */
  console: flag(true),
  /** Maximum open event streams of a user in one process, while sign-in is on; 0 means no limit. */
  max_streams_per_user: integer(100, { min: 0 }),
  /** Example requests on the start page of the console. */
  console_examples: v.optional(v.array(example, 'must be a list'), () => []),
})

export const readHttp = (source: Source) => source.section('http', httpSchema).values

/** True if the placeholder comes after the host, so that a link always leads to the operator's server. */
function isSessionUrl(value: string): boolean {
  if (value === '') return true
  const id = '00000000-0000-4000-8000-000000000000'
  const filled = value.replaceAll('{session_id}', id)
  if (filled === value || !URL.canParse(filled)) return false
  const url = new URL(filled)
  const behindHost = `${url.pathname}${url.search}${url.hash}`.includes(id) && !url.host.includes(id)
  return ['http:', 'https:'].includes(url.protocol) && url.username + url.password === '' && behindHost
}
