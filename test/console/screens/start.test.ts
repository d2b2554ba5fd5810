import { describe, expect, it } from 'vitest'
import { ApiError, type Roots, type SessionSummary } from '../../../console/client/api/client.ts'
import type { Example } from '../../../console/client/platform.ts'
import {
  describeProviders,
  type Fields,
  fillIn,
  findMissing,
  foreignCode,
  inputOf,
  lastOn,
  MODES,
  onlyRoot,
  readAddress,
  readRefusal,
  repositoriesOf,
  rootOf,
  rootsFound,
  toBody,
  toInput,
  whyIncomplete,
  withoutSecret,
} from '../../../console/screens/start/form.ts'
import { EXAMPLES } from '../../../dev/scripted-model/examples.ts'
import { sampleRound, sampleSession } from '../samples.ts'

const URI = 'https://github.com/acme/infrastructure.git'
const FIELDS: Fields = {
  q: 'Add a bucket.',
  repo_uri: ` ${URI} `,
  iac_path: '.',
  engine_providers: 'aws',
  scope_id: ' 1234 ',
  mode: 'generate',
}
const session = (uri: string, root_path: string | null, uuid = uri + root_path) =>
  ({ uuid, workspace: { uri, branch: 'b', root_path } }) as SessionSummary

describe('the roots of a repository', () => {
  const answer: Roots = {
    roots: ['a', 'b'],
    root_modules: [
      { path: '.', kind: 'root' },
      { path: 'examples/x', kind: 'example' },
    ],
    unread_files: 0,
    providers: [],
    tools: [],
  }

  it('are those by contents, or by names without them', () => {
    expect(rootsFound(answer)).toEqual(answer.root_modules)
    for (const root_modules of [null, []])
      expect(rootsFound({ ...answer, root_modules })).toEqual(['a', 'b'].map((path) => ({ path, kind: 'root' })))
  })

  it('are filled in when there is one beside examples and tests', () => {
    expect(onlyRoot(answer)).toBe('')
    expect(onlyRoot({ ...answer, root_modules: null })).toBe(null)
    expect(onlyRoot({ ...answer, root_modules: [{ path: 'examples/x', kind: 'example' }] })).toBe(null)
    expect(onlyRoot(undefined)).toBe(null)
  })

  it('come with what else is there and what is missing', () => {
    expect([foreignCode(answer), whyIncomplete(answer)]).toEqual([null, null])
    expect(foreignCode({ ...answer, tools: ['terragrunt', 'helm', 'stack'] })).toContain(
      'code for Terragrunt, Helm, and Terraform Stacks, which the platform does not run',
    )
    const providers: Roots['providers'] = [
      { source: 'hashicorp/aws', cloud: 'aws' },
      { source: 'linode/linode', cloud: null },
    ]
    const told = 'The code uses hashicorp/aws and linode/linode'
    expect(describeProviders(answer, 'aws')).toBe(null)
    expect(describeProviders({ ...answer, providers: null }, 'aws')).toBe(null)
    for (const cloud of ['', 'aws']) expect(describeProviders({ ...answer, providers }, cloud)).toBe(`${told}.`)
    expect(describeProviders({ ...answer, providers }, 'gcp')).toBe(
      `${told}, and no provider of gcp: no compliance rule and no forbidden action of gcp applies to it, only those for every cloud.`,
    )
    expect(describeProviders({ ...answer, providers, unread_files: 1 }, 'gcp')).toBe(`${told}.`)
    expect(whyIncomplete({ ...answer, unread_files: 1 })).toMatch(/^One file could not be read/)
    expect(whyIncomplete({ ...answer, root_modules: null })).toContain('by the names of files only')
  })
})

describe('the body of a first request', () => {
  it('leaves out the root of the repository, and what belongs to other modes', () => {
    expect(toBody(FIELDS)).toEqual({ q: 'Add a bucket.', repo_uri: URI, engine_providers: 'aws', scope_id: '1234' })
    expect(toBody({ ...FIELDS, iac_path: ' live/network ' })).toMatchObject({ iac_path: 'live/network' })
  })

  it('says what each mode of drift and import is', () => {
    const said = MODES.map(({ name }) => {
      const { is_partial, preview } = toBody({ ...FIELDS, mode: name })
      return [name, is_partial, preview]
    })
    expect(said).toEqual([
      ['generate', undefined, undefined],
      ['drift-partial', true, false],
      ['drift-full', false, false],
      ['drift-preview', false, true],
      ['import-partial', true, false],
      ['import-full', false, false],
      ['import-preview', false, true],
    ])
  })

  it('has words of its own where those of the person select nothing, and keeps theirs', () => {
    expect(toBody({ ...FIELDS, q: ' \n', mode: 'import-full' }).q).toBe('Import all the infrastructure')
    expect(toBody({ ...FIELDS, q: 'خزّن السجلات 🪣', mode: 'import-full' }).q).toBe('خزّن السجلات 🪣')
  })

  it('takes every recorded example as the recorded request', () => {
    for (const { route, is_partial, preview = false, request, iac_path } of Object.values<
      (typeof EXAMPLES)[keyof typeof EXAMPLES] & { preview?: boolean }
    >(EXAMPLES)) {
      const place = { repo_uri: URI, scope_id: '1', engine_providers: 'aws' }
      const example: Example = { mode: route, text: request, iac_path, is_partial, preview, ...place }
      const body = toBody(fillIn(FIELDS, toInput(example)))
      expect(body).toEqual({
        q: request,
        ...place,
        ...(iac_path && { iac_path }),
        ...(route !== 'generate' && { is_partial, preview }),
      })
    }
  })
})

describe('what is missing', () => {
  it('names every field that has to be filled in', () => {
    const empty: Fields = { ...FIELDS, q: ' ', repo_uri: '', engine_providers: '', scope_id: ' ' }
    expect(Object.keys(findMissing(empty))).toEqual(['q', 'repo_uri', 'engine_providers', 'scope_id'])
    expect(findMissing(FIELDS)).toEqual({})
  })

  it('needs no words where they select nothing', () => {
    expect(findMissing({ ...FIELDS, q: '', mode: 'drift-full' })).toEqual({})
    expect(findMissing({ ...FIELDS, q: '', mode: 'drift-partial' })).toHaveProperty('q')
  })
})

describe('the address of a repository', () => {
  it.each([
    ['', 'none'],
    ['  ', 'none'],
    ['https://', 'unfinished'],
    ['https://github.com', 'unfinished'],
    ['http://github.com/acme/x', 'unfinished'],
    ['git@github.com:acme/x.git', 'unfinished'],
    ['https://github.com/acme/a b', 'unfinished'],
    ['https://me@github.com/acme/x', 'complete'],
    [URI, 'complete'],
    ['https://me:secret@github.com/acme/x', 'secret'],
  ])('%j is %s', (uri, expected) => expect(readAddress(uri)).toBe(expected))

  it('is not kept when it holds a password', () => {
    expect(withoutSecret({ q: 'x', repo_uri: 'https://me:secret@h/x' })).toEqual({ q: 'x', repo_uri: '' })
    expect(withoutSecret({ q: 'x', repo_uri: URI })).toEqual({ q: 'x', repo_uri: URI })
  })
})

describe('what is known from earlier sessions', () => {
  const sessions = [session(URI, 'live'), session('https://h/other', null), session(URI, null)]

  it('lists each repository once, in their order', () => {
    expect(repositoriesOf(sessions)).toEqual([URI, 'https://h/other'])
  })

  it('finds the last session on a repository, and prefers the engine root that was named', () => {
    expect(lastOn(sessions, URI.toUpperCase())?.workspace.root_path).toBe('live')
    expect(lastOn(sessions, URI, '.')?.workspace.root_path).toBeNull()
    expect(lastOn(sessions, URI, 'elsewhere')?.workspace.root_path).toBe('live')
    expect(lastOn(sessions, 'https://h/none')).toBeNull()
  })

  it('gives way to what was typed, also to an empty text, and not to what was taken back', () => {
    const filled = fillIn(FIELDS, { iac_path: '', scope_id: undefined })
    expect([filled.iac_path, filled.scope_id]).toEqual(['', FIELDS.scope_id])
  })

  it('fills a new session with the request that failed', () => {
    const failed = sampleSession(
      [
        sampleRound(1, 'completed', { query: 'Add a bucket.' }),
        sampleRound(2, 'completed', { query: 'Make it versioned.' }),
        sampleRound(3, 'apply', { query: 'Engine apply.' }),
      ],
      { workspace: { uri: URI, branch: 'b', root_path: 'live' }, provider: 'aws', scope_id: '1234' },
    )
    expect(inputOf(failed)).toEqual({
      ...{ q: 'Make it versioned.', repo_uri: URI, iac_path: 'live', engine_providers: 'aws', scope_id: '1234' },
      mode: 'generate',
    })
  })

  it('takes `.` for the root', () => expect([rootOf(' . '), rootOf('a/b')]).toEqual(['', 'a/b']))
})

describe('a refused request', () => {
  const problem = (name: string, msg: string) => ({ loc: ['body', name], msg })

  it('is told at its fields, without the words that only a program needs', () => {
    const error = new ApiError(422, '', [problem('repo_uri', 'Value error, the host is unknown.')])
    expect(readRefusal(error)).toEqual({ fields: { repo_uri: 'The host is unknown.' }, rest: false })
  })

  it('is told as a whole as well when something belongs to no field', () => {
    const error = new ApiError(422, '', [problem('q', 'too short'), { loc: ['body'], msg: 'Value error, both' }])
    expect(readRefusal(error)).toEqual({ fields: { q: 'Too short' }, rest: true })
    expect(readRefusal(new ApiError(403, 'no'))).toEqual({ fields: {}, rest: true })
    expect(readRefusal(new Error('?'))).toEqual({ fields: {}, rest: true })
  })
})
