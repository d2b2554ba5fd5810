import * as v from 'valibot'
import { notFoundAtHost } from '../host.ts'
import type { CheckState, Findings } from './findings.ts'

// What a branch of GitHub requires of a pull request, and how far it is.

/** Calls GitHub: `call(schema, 'GET /repos/{owner}/{repo}/…', parameters)`. */
export type GithubCall = <Schema extends v.GenericSchema>(
  schema: Schema,
  route: string,
  parameters: object,
) => Promise<v.InferOutput<Schema>>

export const REPOSITORY = 'GET /repos/{owner}/{repo}'
export const PAGE = { per_page: 100 }

const count = v.optional(v.number(), 0)
const flag = v.optional(v.boolean(), false)
const enabled = v.optional(v.object({ enabled: flag }))
const named = v.object({ context: v.string() })

export const rulesSchema = v.array(
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
export type Rules = v.InferOutput<typeof rulesSchema>

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
export async function readNeeds(
  call: GithubCall,
  found: Findings,
  branch: string | undefined,
  rules: Rules,
): Promise<Needs> {
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
export async function readChecks(
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

export async function readReviews(call: GithubCall, found: Findings, pull_number: number) {
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

export async function countUnsigned(call: GithubCall, found: Findings, pull_number: number): Promise<number> {
  const route = `${REPOSITORY}/pulls/{pull_number}/commits`
  const commits = await found.ask(
    'whether the commits are signed',
    call(commitsSchema, route, { pull_number, ...PAGE }),
  )
  return commits?.filter(({ commit }) => commit.verification?.verified === false).length ?? 0
}
