import * as v from 'valibot'
import type { PromptStore, StoredVersion } from './prompt-store.ts'

export interface Answer {
  status: number
  /** The body, which is sent as JSON. Absent when there is none. */
  json?: unknown
  /** The body, which is sent as plain text: how the product answers what is missing and names that cannot be. */
  text?: string
}

const identifier = v.pipe(v.string(), v.regex(/^[a-z0-9]([_a-z0-9-]*[a-z0-9])?$/))
const isIdentifier = (name: string) => v.is(identifier, name)
const MISSING: Answer = { status: 404, text: 'Not Found' }
const createSchema = v.object({
  prompt: v.looseObject({ name: identifier, description: v.nullish(v.string(), '') }),
  version: v.looseObject({
    model_provider: v.string(),
    model_name: v.string(),
    template: v.looseObject({ type: v.literal('chat'), messages: v.array(v.unknown()) }),
    template_type: v.literal('CHAT'),
    template_format: v.picklist(['NONE', 'MUSTACHE', 'F_STRING']),
    invocation_parameters: v.looseObject({ type: v.string() }),
  }),
})
const tagSchema = v.looseObject({ name: identifier })

/**
 * Answers the part of the registry product's REST interface that concerns prompts. Null for any other path.
 * @param body the parsed JSON of a POST
 */
export function answerRegistry(store: PromptStore, method: string, path: string, body: unknown): Answer | null {
  const [root, name = '', kind, tag, ...more] = path.split('/').map(decodeURIComponent)
  if (more.length > 0) return null
  if (root === 'prompts' && name === '')
    return method === 'POST'
      ? createPrompt(store, body)
      : method === 'GET'
        ? { status: 200, json: { data: listPrompts(store), next_cursor: null } }
        : null
  if (root === 'prompts' && method === 'GET' && kind === 'latest' && tag === undefined)
    return isIdentifier(name) ? answerVersion(store.latest(name)) : { status: 422, text: 'Invalid prompt name' }
  if (root === 'prompts' && method === 'GET' && kind === 'tags' && tag !== undefined)
    return !isIdentifier(tag)
      ? { status: 422, text: 'Invalid tag name' }
      : isIdentifier(name)
        ? answerVersion(store.tagged(name, tag))
        : { status: 422, text: 'Invalid prompt name' }
  if (root === 'prompts' && method === 'DELETE' && kind === undefined)
    return store.remove(name) ? { status: 204 } : { status: 404, text: 'Prompt not found' }
  if (root === 'prompt_versions' && kind === 'tags' && tag === undefined)
    return method === 'POST' ? addTag(store, name, body) : listTags(store, name)
  return null
}

function createPrompt(store: PromptStore, body: unknown): Answer {
  const parsed = v.safeParse(createSchema, body)
  if (!parsed.success) return answerInvalid(parsed.issues)
  const { prompt, version } = parsed.output
  return answerVersion(store.add(prompt.name, prompt.description ?? '', version))
}

function addTag(store: PromptStore, versionId: string, body: unknown): Answer {
  const parsed = v.safeParse(tagSchema, body)
  if (!parsed.success) return answerInvalid(parsed.issues)
  return store.tag(versionId, parsed.output.name) ? { status: 204 } : MISSING
}

function listTags(store: PromptStore, versionId: string): Answer {
  const names = store.tagsOf(versionId)
  return names
    ? { status: 200, json: { data: names.map((name) => ({ id: `${versionId}-${name}`, name })), next_cursor: null } }
    : MISSING
}

const listPrompts = (store: PromptStore) => store.names().map((name) => ({ id: name, name }))

const answerVersion = (version: StoredVersion | null): Answer =>
  version ? { status: 200, json: { data: { ...version.data, id: version.id } } } : MISSING

const answerInvalid = (issues: readonly v.BaseIssue<unknown>[]): Answer => ({
  status: 422,
  json: { detail: issues.map((issue) => `${v.getDotPath(issue) ?? 'body'}: ${issue.message}`) },
})
