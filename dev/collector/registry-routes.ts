import * as v from 'valibot'
import type { ServerAnswer } from '../server.ts'
import type { PromptStore, StoredVersion } from './prompt-store.ts'

const identifier = v.pipe(v.string(), v.regex(/^[a-z0-9]([_a-z0-9-]*[a-z0-9])?$/))
const isIdentifier = (name: string) => v.is(identifier, name)
/** Makes a plain text answer, the registry product's form for missing entries and invalid names. */
const text = (status: number, body: string): ServerAnswer => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body,
})
const MISSING = text(404, 'Not Found')
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
 * Answers the prompt routes of the registry product's REST interface; null for any other path.
 * @param body the parsed JSON of a POST
 */
export function answerRegistry(store: PromptStore, method: string, path: string, body: unknown): ServerAnswer | null {
  const [root, name = '', kind, tag, ...more] = path.split('/').map(decodeURIComponent)
  if (more.length > 0) return null
  if (root === 'prompt_versions' && kind === 'tags' && tag === undefined)
    return method === 'POST' ? addTag(store, name, body) : listTags(store, name)
  if (root !== 'prompts') return null
  if (name === '') {
    if (method === 'POST') return createPrompt(store, body)
    return method === 'GET' ? { status: 200, body: { data: listPrompts(store), next_cursor: null } } : null
  }
  if (method === 'DELETE' && kind === undefined)
    return store.remove(name) ? { status: 204 } : text(404, 'Prompt not found')
  const isTagged = kind === 'tags' && tag !== undefined
  if (method !== 'GET' || !(isTagged || (kind === 'latest' && tag === undefined))) return null
  if (isTagged && !isIdentifier(tag)) return text(422, 'Invalid tag name')
  if (!isIdentifier(name)) return text(422, 'Invalid prompt name')
  return answerVersion(isTagged ? store.tagged(name, tag) : store.latest(name))
}

function createPrompt(store: PromptStore, body: unknown): ServerAnswer {
  const parsed = v.safeParse(createSchema, body)
  if (!parsed.success) return answerInvalid(parsed.issues)
  const { prompt, version } = parsed.output
  return answerVersion(store.add(prompt.name, prompt.description ?? '', version))
}

function addTag(store: PromptStore, versionId: string, body: unknown): ServerAnswer {
  const parsed = v.safeParse(tagSchema, body)
  if (!parsed.success) return answerInvalid(parsed.issues)
  return store.tag(versionId, parsed.output.name) ? { status: 204 } : MISSING
}

function listTags(store: PromptStore, versionId: string): ServerAnswer {
  const names = store.tagsOf(versionId)
  return names
    ? { status: 200, body: { data: names.map((name) => ({ id: `${versionId}-${name}`, name })), next_cursor: null } }
    : MISSING
}

const listPrompts = (store: PromptStore) => store.names().map((name) => ({ id: name, name }))

const answerVersion = (version: StoredVersion | null): ServerAnswer =>
  version ? { status: 200, body: { data: { ...version.data, id: version.id } } } : MISSING

const answerInvalid = (issues: readonly v.BaseIssue<unknown>[]): ServerAnswer => ({
  status: 422,
  body: { detail: issues.map((issue) => `${v.getDotPath(issue) ?? 'body'}: ${issue.message}`) },
})
