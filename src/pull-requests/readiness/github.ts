import * as v from 'valibot'
import { MERGE_METHODS, type MergeMethod } from '../../../config/sections/git.ts'
import { blockMoved, blockTarget, countOf, Findings, MERGED, orderMethods, type Readiness } from './findings.ts'
import {
  countUnsigned,
  type GithubCall,
  PAGE,
  REPOSITORY,
  type Rules,
  readChecks,
  readNeeds,
  readReviews,
  rulesSchema,
} from './github-needs.ts'

/** `mergeable` is null while GitHub tries the merge, and for closed pull requests. */
export const pullSchema = v.object({
  mergeable: v.nullable(v.boolean()),
  /** GitHub's own judgement, for the account that asks. */
  mergeable_state: v.optional(v.string()),
  state: v.optional(v.string()),
  merged: v.optional(v.boolean()),
  draft: v.optional(v.boolean()),
  head: v.optional(v.object({ sha: v.optional(v.string()) })),
  base: v.optional(v.object({ ref: v.optional(v.string()) })),
})
type Pull = v.InferOutput<typeof pullSchema>

/** The methods are absent for accounts that may not push. */
const repositorySchema = v.object({
  allow_merge_commit: v.optional(v.boolean()),
  allow_squash_merge: v.optional(v.boolean()),
  allow_rebase_merge: v.optional(v.boolean()),
  archived: v.optional(v.boolean(), false),
  default_branch: v.optional(v.string()),
  permissions: v.optional(v.object({ push: v.optional(v.boolean()) })),
})
/** What repository and rules say about merges into a branch; null for what GitHub did not say. */
interface Permitted {
  repository: v.InferOutput<typeof repositorySchema> | null
  rules: Rules | null
}

async function readPermitted(call: GithubCall, branch: string | undefined, found: Findings): Promise<Permitted> {
  const [repository, rules] = await Promise.all([
    found.ask('which merge methods the repository allows', call(repositorySchema, REPOSITORY, {})),
    branch === undefined
      ? null
      : found.ask(
          'which rules the branch has',
          call(rulesSchema, `${REPOSITORY}/rules/branches/{branch}`, { branch, ...PAGE }),
        ),
  ])
  return { repository, rules }
}

/** Returns the methods that repository and rules allow; null when GitHub does not say what the repository allows. */
function allowedMethods({ repository, rules }: Permitted): MergeMethod[] | null {
  const flags = [repository?.allow_merge_commit, repository?.allow_squash_merge, repository?.allow_rebase_merge]
  if (flags.every((allows) => allows === undefined)) return null
  const lists = (rules ?? []).flatMap(({ type, parameters }) =>
    type === 'required_linear_history'
      ? [['squash', 'rebase']]
      : (parameters?.allowed_merge_methods ?? []).length > 0
        ? [parameters?.allowed_merge_methods]
        : [],
  )
  return MERGE_METHODS.filter(
    (method, index) => flags[index] === true && lists.every((list) => list?.includes(method) ?? true),
  )
}

/**
 * Returns the default branch, and the methods to try for a merge into a branch, the best first. All are returned when
 * GitHub does not say what is allowed, or when its rules exclude each other. Errors: only the signal's reason.
 */
export async function githubMethods(
  call: GithubCall,
  branch: string | undefined,
  preferred: MergeMethod | '',
): Promise<{ methods: MergeMethod[]; defaultBranch: string | undefined }> {
  const permitted = await readPermitted(call, branch, new Findings())
  const allowed = allowedMethods(permitted)
  return {
    methods: orderMethods(preferred, allowed?.length ? allowed : MERGE_METHODS),
    defaultBranch: permitted.repository?.default_branch,
  }
}

/** Reports whether GitHub's refusal of a merge is about its method, so that another one may be taken. */
export const refusesMethod = (text: string): boolean =>
  /(merge commits|squash merges|rebase merges) are not allowed|must not contain merge commits/i.test(text)

/** Reports whether the base branch moved while GitHub merged, after which the same merge may be asked for again. */
export const refusesMovedBase = (text: string): boolean => /base branch was modified/i.test(text)

/** Reads what stands in the way of a merge. Errors: those of the call that reads the pull request. */
export async function githubReadiness(
  call: GithubCall,
  pull_number: number,
  { commit, preferred, isApp }: { commit: string | undefined; preferred: MergeMethod | ''; isApp: boolean },
): Promise<Readiness> {
  const pull = await call(pullSchema, `${REPOSITORY}/pulls/{pull_number}`, { pull_number })
  const found = new Findings()
  if (pull.merged && (commit === undefined || pull.head?.sha === commit)) return MERGED
  if (pull.state === 'closed') {
    found.block('closed', pull.merged ? 'It was merged at another commit than the reviewed one.' : 'It was closed.')
    return found.result()
  }
  blockMoved(found, commit, pull.head?.sha)
  const permitted = await readPermitted(call, pull.base?.ref, found)
  blockTarget(found, pull.base?.ref, permitted.repository?.default_branch)
  const allowed = allowedMethods(permitted)
  found.method = allowed && (orderMethods(preferred, allowed)[0] ?? null)
  blockByRepository(found, permitted, allowed)
  // GitHub answers apps as if they had no right at all.
  if (!isApp && permitted.repository?.permissions?.push === false)
    found.block('permissions', "The platform's account may not push to the repository.")
  blockByState(found, pull)
  // GitHub judges by all of its rules; the rest only says what is behind its word.
  if (['blocked', 'behind', 'draft'].includes(pull.mergeable_state ?? ''))
    await explain(call, found, { pull, pull_number, rules: permitted.rules ?? [] })
  return found.result()
}

function blockByRepository(found: Findings, { repository, rules }: Permitted, allowed: MergeMethod[] | null): void {
  if (repository?.archived) found.block('permissions', 'The repository is archived.')
  if (allowed?.length === 0)
    found.block('policy', 'Repository and branch allow no common merge method: their rules exclude each other.')
  if (rules?.some(({ type }) => type === 'merge_queue'))
    found.block(
      'merge_queue',
      'The branch takes changes through its merge queue only: add the pull request to it at GitHub.',
    )
}

function blockByState(found: Findings, { mergeable, mergeable_state, draft }: Pull): void {
  if (mergeable === false || mergeable_state === 'dirty')
    found.block('conflict', 'The branch conflicts with the branch to merge into.')
  if (mergeable === null) found.block('computing', 'GitHub has not computed yet whether it can be merged.')
  if (draft || mergeable_state === 'draft') found.block('draft', 'It is a draft.')
  if (mergeable_state === 'behind')
    found.block('behind', 'The branch is behind the branch to merge into, and has to be up to date.')
}

interface Explained {
  pull: Pull
  pull_number: number
  rules: Rules
}

/** Says which requirements are not met, and names those whose state GitHub does not tell. */
async function explain(call: GithubCall, found: Findings, { pull, pull_number, rules }: Explained): Promise<void> {
  const needs = await readNeeds(call, found, pull.base?.ref, rules)
  if (needs.locked) found.block('permissions', 'The branch is locked.')
  const sha = pull.head?.sha
  const [checks, reviews, unsigned] = await Promise.all([
    needs.checks.length > 0 && sha !== undefined ? readChecks(call, found, sha, needs.checks) : [],
    readReviews(call, found, pull_number),
    needs.signatures ? countUnsigned(call, found, pull_number) : 0,
  ])
  found.blockChecks(checks)
  if (reviews && reviews.objections > 0)
    found.block('changes_requested', `${countOf(reviews.objections, 'reviewer')} requested changes.`)
  if (reviews && reviews.approvals < needs.approvals)
    found.block('reviews', `It needs ${countOf(needs.approvals, 'approving review')} and has ${reviews.approvals}.`)
  if (unsigned > 0)
    found.block(
      'signatures',
      `The branch requires signed commits: ${countOf(unsigned, 'commit')} without a verified signature.`,
    )
  if (needs.untold.length > 0)
    found.doubt(`The branch also requires what GitHub does not tell the state of: ${needs.untold.join(', ')}.`)
  const isExplained = found.blockers.some(({ code }) => !['moved', 'computing', 'behind'].includes(code))
  if (!isExplained && pull.mergeable_state === 'blocked') {
    const rest = needs.untold.length > 0 ? `; it may be one of: ${needs.untold.join(', ')}` : ''
    found.block('policy', `The branch is protected, and GitHub does not say what is missing${rest}.`)
  }
}
