import * as v from 'valibot'
import type { MergeMethod } from '../../../config/sections/git.ts'
import { type BlockerCode, blockMoved, blockTarget, countOf, Findings, MERGED, type Readiness } from './findings.ts'

/** Calls GitLab: `call(schema, 'GET', address)`. */
export type GitlabCall = <Schema extends v.GenericSchema>(
  schema: Schema,
  method: string,
  url: string,
  json?: unknown,
) => Promise<v.InferOutput<Schema>>

/** A field in a form that is not known counts as false: the words of GitLab say what matters. */
const flag = v.fallback(v.nullish(v.boolean(), false), false)
const projectSchema = v.object({
  /** `ff` moves the branch forward, `merge` and `rebase_merge` make a merge commit. */
  merge_method: v.optional(v.string()),
  squash_option: v.optional(v.string()),
  default_branch: v.nullish(v.string()),
  archived: flag,
  merge_trains_enabled: flag,
  only_allow_merge_if_pipeline_succeeds: flag,
  only_allow_merge_if_all_discussions_are_resolved: flag,
})
export type Project = v.InferOutput<typeof projectSchema>

export const requestSchema = v.object({
  state: v.string(),
  sha: v.nullish(v.string()),
  target_branch: v.nullish(v.string()),
  draft: flag,
  has_conflicts: flag,
  blocking_discussions_resolved: v.nullish(v.boolean(), true),
  /** Servers before 15.6 have `merge_status` alone. */
  detailed_merge_status: v.nullish(v.string()),
  merge_status: v.nullish(v.string()),
  merge_after: v.nullish(v.string()),
  head_pipeline: v.nullish(v.object({ status: v.string() })),
  user: v.nullish(v.object({ can_merge: v.nullish(v.boolean()) })),
})
type Request = v.InferOutput<typeof requestSchema>

/** Editions without required approvals leave the counts out. */
const approvalsSchema = v.object({
  approvals_left: v.nullish(v.number(), 0),
  user_can_approve: flag,
  user_has_approved: flag,
})
const statusChecksSchema = v.array(v.object({ name: v.string(), status: v.string() }))

export const readProject = (call: GitlabCall, project: string): Promise<Project> => call(projectSchema, 'GET', project)

/** Returns the method that a merge takes, and whether commits are squashed: undefined leaves that to the project. */
export function gitlabMethod(
  { merge_method, squash_option }: Project,
  preferred: MergeMethod | '',
): { method: MergeMethod; squash: boolean | undefined } {
  const whole: MergeMethod = merge_method === 'ff' ? 'rebase' : 'merge'
  if (squash_option === 'always') return { method: 'squash', squash: true }
  if (squash_option === 'never') return { method: whole, squash: undefined }
  if (preferred === '') return { method: squash_option === 'default_on' ? 'squash' : whole, squash: undefined }
  return preferred === 'squash' ? { method: 'squash', squash: true } : { method: whole, squash: false }
}

/** GitLab's words for a request whose state it still computes. */
const COMPUTING = ['unchecked', 'checking', 'preparing', 'approvals_syncing', 'cannot_be_merged_recheck']

export const isComputing = ({ detailed_merge_status, merge_status }: Request): boolean =>
  COMPUTING.includes(detailed_merge_status ?? merge_status ?? '')

export const isMergeable = ({ detailed_merge_status, merge_status }: Request): boolean =>
  ['mergeable', 'can_be_merged'].includes(detailed_merge_status ?? merge_status ?? '')

/** The meaning of GitLab's words, but of those whose sentence needs more than the word. */
const WORDS: Record<string, [code: BlockerCode, text: string]> = {
  conflict: ['conflict', 'The branch conflicts with the branch to merge into.'],
  broken_status: ['conflict', 'The branch cannot be merged; it probably conflicts with the branch to merge into.'],
  cannot_be_merged: ['conflict', 'The branch conflicts with the branch to merge into.'],
  need_rebase: ['behind', 'The branch is behind the branch to merge into, and has to be rebased.'],
  draft_status: ['draft', 'It is a draft.'],
  discussions_not_resolved: ['discussions', 'Not all discussions are resolved.'],
  requested_changes: ['changes_requested', 'A reviewer requested changes.'],
  blocked_status: ['policy', 'It waits for another merge request.'],
  merge_request_blocked: ['policy', 'It waits for another merge request.'],
  commits_status: ['policy', 'Its branch is missing or has no commits.'],
  jira_association: ['policy', 'Title or description has to name a Jira issue.'],
  jira_association_missing: ['policy', 'Title or description has to name a Jira issue.'],
  title_regex: ['policy', 'The title does not have the form that the project requires.'],
  title_not_matching: ['policy', 'The title does not have the form that the project requires.'],
  locked_paths: ['permissions', 'It changes paths that others have locked.'],
  locked_lfs_files: ['permissions', 'It changes LFS files that others have locked.'],
  security_policy_violations: ['policy', 'It violates a security policy.'],
  security_policies_violations: ['policy', 'It violates a security policy.'],
  security_policy_pipeline_check: ['checks', 'The pipeline of a security policy has not passed.'],
}

interface Read {
  project: Project | null
  pull: Request
  /** Address of the merge request. */
  address: string
}

/** Reads what stands in the way of a merge. Errors: those of the call that reads the merge request. */
export async function gitlabReadiness(
  call: GitlabCall,
  { project: projectAddress, address }: { project: string; address: string },
  { commit, preferred }: { commit: string | undefined; preferred: MergeMethod | '' },
): Promise<Readiness> {
  const pull = await call(requestSchema, 'GET', address)
  const found = new Findings()
  if (pull.state === 'merged' && (commit === undefined || pull.sha === commit)) return MERGED
  if (pull.state === 'merged' || pull.state === 'closed') {
    found.block(
      'closed',
      pull.state === 'merged' ? 'It was merged at another commit than the reviewed one.' : 'It was closed.',
    )
    return found.result()
  }
  blockMoved(found, commit, pull.sha ?? undefined)
  const project = await found.ask('which merge methods the project allows', readProject(call, projectAddress))
  found.method = project && gitlabMethod(project, preferred).method
  blockTarget(found, pull.target_branch, project?.default_branch)
  if (project?.archived) found.block('permissions', 'The project is archived.')
  if (pull.user?.can_merge === false)
    found.block('permissions', "The platform's account may not merge into the branch.")
  if (project?.merge_trains_enabled)
    found.doubt('The project uses merge trains, and GitLab does not say whether it takes a merge outside of the train.')
  await blockByWord(call, found, { project, pull, address })
  return found.result()
}

/** GitLab tells one obstacle at a time; the fields of the request tell of others. */
async function blockByWord(call: GitlabCall, found: Findings, { project, pull, address }: Read): Promise<void> {
  const word = pull.detailed_merge_status ?? pull.merge_status ?? ''
  const blocked = (code: BlockerCode) => found.blockers.some((blocker) => blocker.code === code)
  const known = WORDS[word]
  if (isComputing(pull)) found.block('computing', 'GitLab has not computed yet whether it can be merged.')
  else if (known) found.block(...known)
  else if (/^(ci_must_pass|ci_still_running)$/.test(word))
    found.blockChecks([{ name: 'pipeline', state: pull.head_pipeline?.status ?? 'missing' }])
  else if (/^(external_status_checks|status_checks_must_pass)$/.test(word))
    await blockStatusChecks(call, found, address)
  else if (word === 'merge_time')
    found.block('policy', `It is not to be merged before ${pull.merge_after ?? 'a set time'}.`)
  else if (!/^(mergeable|can_be_merged|not_approved|not_open|)$/.test(word))
    found.block('policy', `GitLab does not merge it: "${word}".`)
  if (word === '') found.doubt('GitLab did not say whether it can be merged.')
  if (pull.has_conflicts && !blocked('conflict'))
    found.block('conflict', 'The branch conflicts with the branch to merge into.')
  if (pull.draft && !blocked('draft')) found.block('draft', 'It is a draft.')
  if (project?.only_allow_merge_if_all_discussions_are_resolved && !pull.blocking_discussions_resolved)
    if (!blocked('discussions')) found.block('discussions', 'Not all discussions are resolved.')
  const pipeline = pull.head_pipeline?.status
  if (project?.only_allow_merge_if_pipeline_succeeds && pipeline !== undefined && !blocked('checks'))
    if (!/^(success|skipped)$/.test(pipeline)) found.blockChecks([{ name: 'pipeline', state: pipeline }])
  if (word !== 'mergeable') await blockApprovals(call, found, { word, address })
}

async function blockStatusChecks(call: GitlabCall, found: Findings, address: string): Promise<void> {
  const all = await found.ask(
    'which status checks it waits for',
    call(statusChecksSchema, 'GET', `${address}/status_checks`),
  )
  const left = (all ?? []).filter(({ status }) => status !== 'passed')
  if (left.length > 0) found.blockChecks(left.map(({ name, status }) => ({ name, state: status })))
  else found.block('checks', 'External status checks have not passed.')
}

/** The platform approves before it merges, so its own approval is not missing where GitLab lets it approve. */
async function blockApprovals(
  call: GitlabCall,
  found: Findings,
  { word, address }: { word: string; address: string },
): Promise<void> {
  const read = await found.ask('how many approvals are missing', call(approvalsSchema, 'GET', `${address}/approvals`))
  if (!read) {
    if (word === 'not_approved') found.block('reviews', 'Approvals are missing.')
    return
  }
  const own = read.user_can_approve && !read.user_has_approved ? 1 : 0
  const left = read.approvals_left - own
  if (left > 0) found.block('reviews', `It needs ${countOf(left, 'further approval')}.`)
  else if (word === 'not_approved' && own === 0) found.block('reviews', 'Approvals are missing.')
}
