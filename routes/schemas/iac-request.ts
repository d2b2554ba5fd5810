import { z } from '@hono/zod-openapi'
import { CLOUDS, STATE_CHOICES } from '../../src/base/vocabulary.ts'
import { PREVIEW_FIRST } from '../../src/rounds/previews.ts'
import {
  boolean,
  listOf,
  OPTIONAL_BOOLEAN,
  optional,
  repositoryPath,
  repositoryUri,
  text,
  uuid,
  withRule,
} from '../validation/fields.ts'

/** The keys of a request to run a round. Unknown keys are ignored, and null means the same as an absent key. */
const iacFields = {
  q: text({ min: 1 }).openapi({
    description: 'The request, in plain words.',
    example: 'Add a private bucket for build logs.',
  }),
  repo_uri: optional(repositoryUri()).openapi({
    type: ['string', 'null'],
    description: 'First call only.',
    example: 'https://github.com/acme/infrastructure.git',
  }),
  scope_id: optional(text({ min: 1, max: 1016 })).openapi({
    type: ['string', 'null'],
    description: 'First call: required. Subscription, project, account or compartment; any stable name for kubernetes.',
    example: 'acme-production',
  }),
  engine_providers: optional(z.enum(CLOUDS)).openapi({
    description: 'First call: required. The cloud to work on.',
    example: 'aws',
  }),
  iac_path: optional(repositoryPath()).openapi({
    type: ['string', 'null'],
    description: 'First call only: the engine root inside the repository. Default: the repository root.',
    example: 'live/network',
  }),
  session_id: optional(uuid()).openapi({
    type: ['string', 'null'],
    description: 'Continues this session; instead of `repo_uri`.',
  }),
  state: optional(z.enum(STATE_CHOICES)).openapi({
    description:
      'For a repository that keeps its state elsewhere, while the one that the platform manages is empty: `adopt` ' +
      "copies it, `keep` works on the repository's own backend, `new` leaves it aside and creates everything anew. " +
      'Default: as before in the session, else as configured. Where nothing is chosen, the round stops and asks.',
    example: 'adopt',
  }),
}

const iac = z.object(iacFields)

/** Checks the rules about several keys together. Returns the text of the first broken one. */
function iacRule(body: z.output<typeof iac>): string | null {
  if ((body.repo_uri === undefined) === (body.session_id === undefined))
    return 'Exactly one of `repo_uri` or `session_id` must be provided.'
  if (body.session_id !== undefined)
    return body.iac_path === undefined
      ? null
      : 'iac_path is set only on the first call; iteration calls inherit it from the session.'
  if (body.engine_providers === undefined) return 'First call (repo_uri) requires `engine_providers`.'
  if (body.scope_id === undefined) return 'First call (repo_uri) requires `scope_id`.'
  return null
}

const EXAMPLE = {
  q: 'Add a private bucket for build logs.',
  repo_uri: 'https://github.com/acme/infrastructure.git',
  scope_id: 'acme-production',
  engine_providers: 'aws',
  iac_path: 'live/network',
}

type Keys = Record<string, { type: 'string' | 'null' | ('string' | 'null')[]; maxLength?: number }>

/** `iacRule` as JSON Schema: null means the same as an absent key. */
const FORMS = {
  oneOf: [
    {
      title: 'First call',
      type: 'object' as const,
      required: ['repo_uri', 'scope_id', 'engine_providers'],
      properties: {
        repo_uri: { type: 'string' },
        scope_id: { type: 'string' },
        engine_providers: { type: 'string' },
        session_id: { type: 'null' },
      } as Keys,
    },
    {
      title: 'A session goes on',
      type: 'object' as const,
      required: ['session_id'],
      properties: {
        session_id: { type: 'string' },
        repo_uri: { type: 'null' },
        iac_path: { type: ['string', 'null'], maxLength: 0 },
      } as Keys,
    },
  ],
}

export const GenerateRequest = withRule(iac, iacRule).openapi('GenerateRequest', { ...FORMS, example: EXAMPLE })

const flag = (description: string) =>
  optional(boolean())
    .transform((value) => value ?? false)
    .openapi({ ...OPTIONAL_BOOLEAN, default: false, description })

const partial = iac.extend({
  is_partial: flag('Only what `q` names, instead of the whole root.'),
  preview: flag(
    'Only look: neither code nor state is changed, nothing is pushed, and lock and pinned plan stay as they are.',
  ),
})

/** The most identifiers that one request may choose, and the longest one that the engine accepts. */
const MAX_CHOSEN = 1_000
const MAX_IDENTIFIER = 4_096

const chosen = partial.extend({
  resource_ids: optional(listOf(text({ min: 1, max: MAX_IDENTIFIER }), { min: 1, max: MAX_CHOSEN })).openapi({
    type: ['array', 'null'],
    items: { type: 'string', minLength: 1, maxLength: MAX_IDENTIFIER },
    minItems: 1,
    maxItems: MAX_CHOSEN,
    description:
      'Import exactly these: identifiers that the latest import preview of the session lists as unmanaged. ' +
      '`q` selects nothing then.',
    example: ['arn:aws:sqs:eu-central-1:123456789012:invoices'],
  }),
})

/** Checks that resources are chosen only in a session, after a preview in a round of its own. */
function chosenRule({ preview, resource_ids, session_id }: z.output<typeof chosen>): string | null {
  if (resource_ids === undefined) return null
  if (preview) return 'resource_ids cannot be combined with preview: a preview lists the whole scope.'
  return session_id === undefined ? PREVIEW_FIRST : null
}
const isBlank = (value: string) => value.trim() === ''

/** Reports a rule about blank text for empty text too, whose length error would keep `withRule` from running. */
const withBlankRule = <T extends z.ZodType>(schema: T, rule: (value: z.output<T>) => string | null) =>
  schema.superRefine((value, ctx) => {
    if (ctx.issues.length === 0) return
    const message = rule(value)
    if (message) ctx.addIssue({ code: 'custom', message })
  })

const driftRule = ({ is_partial, q }: z.output<typeof partial>) =>
  is_partial && isBlank(q) ? 'Partial drift detection requires a non-empty q' : null

export const DriftRequest = withRule(
  withBlankRule(partial, (body) => (body.q === '' ? driftRule(body) : null)),
  (body) => iacRule(body) ?? driftRule(body),
).openapi('DriftRequest', { ...FORMS, example: { ...EXAMPLE, q: 'Check the log buckets.', is_partial: true } })

function importRule({ is_partial, q, repo_uri, scope_id }: z.output<typeof partial>): string | null {
  if (is_partial && isBlank(q)) return 'Partial import requires a non-empty `q`.'
  if (repo_uri !== undefined && scope_id !== undefined && isBlank(scope_id))
    return 'The `scope_id` must be provided when `repo_uri` is set.'
  return null
}

export const ImportRequest = withRule(
  withBlankRule(chosen, (body) => (body.q === '' || body.scope_id === '' ? importRule(body) : null)),
  (body) => iacRule(body) ?? importRule(body) ?? chosenRule(body),
).openapi('ImportRequest', { ...FORMS, example: { ...EXAMPLE, q: 'Import all the infrastructure', is_partial: false } })
