import * as v from 'valibot'
import { MERGE_METHODS, type MergeMethod } from '../../../config/sections/git.ts'
import { notFoundAtHost } from '../host.ts'
import { blockMoved, type CheckState, countOf, Findings, MERGED, orderMethods, type Readiness } from './findings.ts'

/** Calls GitHub: `call(schema, 'GET /repos/{owner}/{repo}/…', parameters)`. */
export type GithubCall = <Schema extends v.GenericSchema>(
  schema: Schema,
  route: string,
  parameters: object,
) => Promise<v.InferOutput<Schema>>

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

const count = v.optional(v.number(), 0)
const flag = v.optional(v.boolean(), false)
const enabled = v.optional(v.object({ enabled: flag }))
const named = v.object({ context: v.string() })

/** The methods are absent for accounts that may not push. */
const repositorySchema = v.object({
  allow_merge_commit: v.optional(v.boolean()),
  allow_squash_merge: v.optional(v.boolean()),
  allow_rebase_merge: v.optional(v.boolean()),
  archived: flag,
  permissions: v.optional(v.object({ push: v.optional(v.boolean()) })),
})
const rulesSchema = v.array(
  v.object({
    type: v.string(),
    parameters: v.optional(
      v.object({
        allowed_merge_methods: v.optional(v.array(v.string())),
        required_approving_review_count: count,
        require_code_owner_review: flag,
        require_last_push_approval: flag,
        required_review_thread_resolution: flag,
        required_status_checks: v.optional(v.array(named), []),
        required_deployment_environments: v.optional(v.array(v.string()), []),
      }),
    ),
  }),
)
const branchSchema = v.object({
  protected: flag,
  protection: v.optional(
    v.object({ required_status_checks: v.optional(v.object({ contexts: v.optional(v.array(v.string()), []) })) }),
  ),
})
const protectionSchema = v.object({
  required_pull_request_reviews: v.optional(
    v.object({
      required_approving_review_count: count,
      require_code_owner_reviews: flag,
      require_last_push_approval: flag,
    }),
  ),
  required_conversation_resolution: enabled,
  required_signatures: enabled,
  required_linear_history: enabled,
  lock_branch: enabled,
  restrictions: v.optional(v.unknown()),
})
const checkRunsSchema = v.object({
  total_count: count,
  check_runs: v.array(v.object({ name: v.string(), status: v.string(), conclusion: v.nullish(v.string()) })),
})
const statusSchema = v.object({ statuses: v.array(v.object({ context: v.string(), state: v.string() })) })
const reviewsSchema = v.array(
  v.object({ user: v.nullable(v.object({ login: v.string() })), state: v.string(), commit_id: v.nullish(v.string()) }),
)
const commitsSchema = v.array(
  v.object({ commit: v.object({ verification: v.optional(v.object({ verified: v.boolean() })) }) }),
)

const REPOSITORY = 'GET /repos/{owner}/{repo}'
const PAGE = { per_page: 100 }

type Rules = v.InferOutput<typeof rulesSchema>

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
 * Returns the methods to try for a merge into a branch, the best first. All are returned when GitHub does not say what
 * is allowed, or when its rules exclude each other. Errors: only the signal's reason.
 */
export async function githubMethods(
  call: GithubCall,
  branch: string | undefined,
  preferred: MergeMethod | '',
): Promise<MergeMethod[]> {
  const allowed = allowedMethods(await readPermitted(call, branch, new Findings()))
  return orderMethods(preferred, allowed?.length ? allowed : MERGE_METHODS)
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
  { commit, preferred }: { commit: string | undefined; preferred: MergeMethod | '' },
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
  const allowed = allowedMethods(permitted)
  found.method = allowed && (orderMethods(preferred, allowed)[0] ?? null)
  blockByRepository(found, permitted, allowed)
  blockByState(found, pull)
  // GitHub judges by all of its rules; the rest only says what is behind its word.
  if (['blocked', 'behind', 'draft'].includes(pull.mergeable_state ?? ''))
    await explain(call, found, { pull, pull_number, rules: permitted.rules ?? [] })
  return found.result()
}

function blockByRepository(found: Findings, { repository, rules }: Permitted, allowed: MergeMethod[] | null): void {
  if (repository?.archived) found.block('permissions', 'The repository is archived.')
  if (repository?.permissions?.push === false)
    found.block('permissions', "The platform's account may not push to the repository.")
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

interface Needs {
  /** Names of required checks. */
  checks: string[]
  approvals: number
  signatures: boolean
  locked: boolean
  /** Requirements whose state GitHub does not tell, in words. */
  untold: string[]
}

/** Reads what rules and classic protection of a branch require. */
async function readNeeds(call: GithubCall, found: Findings, branch: string | undefined, rules: Rules): Promise<Needs> {
  const checks = new Set<string>()
  const untold = new Set<string>()
  const needs = { approvals: 0, signatures: false, locked: false }
  const review = (approvals: number, byOwner: boolean, afterPush: boolean, threads: boolean) => {
    needs.approvals = Math.max(needs.approvals, approvals)
    if (byOwner) untold.add('a review by a code owner')
    if (afterPush) untold.add('an approval after the last push')
    if (threads) untold.add('resolved conversations')
  }
  for (const { type, parameters: p } of rules) {
    for (const { context } of p?.required_status_checks ?? []) checks.add(context)
    for (const name of p?.required_deployment_environments ?? []) untold.add(`a deployment to ${name}`)
    if (type === 'required_signatures') needs.signatures = true
    if (type === 'update') needs.locked = true
    if (type === 'workflows') untold.add('workflows')
    if (type === 'code_scanning') untold.add('results of code scanning')
    if (p)
      review(
        p.required_approving_review_count,
        p.require_code_owner_review,
        p.require_last_push_approval,
        p.required_review_thread_resolution,
      )
  }
  if (branch !== undefined) {
    const known = await found.ask(
      'how the branch is protected',
      call(branchSchema, `${REPOSITORY}/branches/{branch}`, { branch }),
    )
    for (const context of known?.protection?.required_status_checks?.contexts ?? []) checks.add(context)
    const classic = known?.protected ? await readProtection(call, found, branch) : null
    const reviews = classic?.required_pull_request_reviews
    review(
      reviews?.required_approving_review_count ?? 0,
      reviews?.require_code_owner_reviews ?? false,
      reviews?.require_last_push_approval ?? false,
      classic?.required_conversation_resolution?.enabled ?? false,
    )
    needs.signatures ||= classic?.required_signatures?.enabled ?? false
    needs.locked ||= classic?.lock_branch?.enabled ?? false
    if (classic?.restrictions) untold.add('an account that may push to the branch')
  }
  return { ...needs, checks: [...checks], untold: [...untold] }
}

/** Reads the classic protection, which only administrators may; a branch that has rules alone has none. */
const readProtection = (call: GithubCall, found: Findings, branch: string) =>
  found.ask(
    "which reviews and signatures the branch protection requires, because the platform's account is no administrator",
    call(protectionSchema, `${REPOSITORY}/branches/{branch}/protection`, { branch }).catch((error: unknown) => {
      if (notFoundAtHost(error, /branch not protected/i)) return null
      throw error
    }),
  )

/** Most pages of check runs. A check beyond them counts as not reported. */
const PAGES = 5

/** Returns those of the required checks that have not passed. */
async function readChecks(
  call: GithubCall,
  found: Findings,
  ref: string,
  required: readonly string[],
): Promise<CheckState[]> {
  const runs = async () => {
    const all: v.InferOutput<typeof checkRunsSchema>['check_runs'] = []
    for (let page = 1; page <= PAGES; page++) {
      const at = { ref, ...PAGE, page }
      const { total_count, check_runs } = await call(checkRunsSchema, `${REPOSITORY}/commits/{ref}/check-runs`, at)
      all.push(...check_runs)
      if (all.length >= total_count || check_runs.length === 0) break
    }
    return all
  }
  const [checkRuns, status] = await Promise.all([
    found.ask('how the checks ended', runs()),
    found.ask(
      'which statuses the commit has',
      call(statusSchema, `${REPOSITORY}/commits/{ref}/status`, { ref, ...PAGE }),
    ),
  ])
  const reported = [
    ...(checkRuns ?? []).map(({ name, status: at, conclusion }) => ({
      name,
      state: at === 'completed' ? (conclusion ?? 'unknown') : at,
    })),
    ...(status?.statuses ?? []).map(({ context, state }) => ({ name: context, state })),
  ]
  const isWhole = checkRuns !== null && status !== null
  return required.flatMap((name) => {
    const states = reported.filter((check) => check.name === name)
    if (states.length === 0) return isWhole ? [{ name, state: 'missing' }] : []
    return states.find(({ state }) => !['success', 'neutral', 'skipped'].includes(state)) ?? []
  })
}

async function readReviews(call: GithubCall, found: Findings, pull_number: number) {
  const route = `${REPOSITORY}/pulls/{pull_number}/reviews`
  const reviews = await found.ask('who has reviewed it', call(reviewsSchema, route, { pull_number, ...PAGE }))
  if (!reviews) return null
  // A comment does not change what its author said before.
  const said = new Map<string, string>()
  for (const { user, state } of reviews)
    if (user && /^(APPROVED|CHANGES_REQUESTED|DISMISSED)$/.test(state)) said.set(user.login, state)
  const of = (state: string) => [...said.values()].filter((value) => value === state).length
  return { approvals: of('APPROVED'), objections: of('CHANGES_REQUESTED') }
}

async function countUnsigned(call: GithubCall, found: Findings, pull_number: number): Promise<number> {
  const route = `${REPOSITORY}/pulls/{pull_number}/commits`
  const commits = await found.ask(
    'whether the commits are signed',
    call(commitsSchema, route, { pull_number, ...PAGE }),
  )
  return commits?.filter(({ commit }) => commit.verification?.verified === false).length ?? 0
}
