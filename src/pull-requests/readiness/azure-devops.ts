import * as v from 'valibot'
import { MERGE_METHODS, type MergeMethod } from '../../../config/sections/git.ts'
import {
  blockMoved,
  blockTarget,
  type CheckState,
  countOf,
  Findings,
  MERGED,
  orderMethods,
  type Readiness,
} from './findings.ts'
import type { GitlabCall } from './gitlab.ts'

/** Calls Azure DevOps: `call(schema, 'GET', address)`. */
type AzureCall = GitlabCall

/** The type of the branch policy that limits how pull requests are merged. */
const MERGE_STRATEGY = 'fa4e907d-c16b-4a4c-9dfa-4916e5d171ab'

const flag = v.nullish(v.boolean(), false)
export const pullSchema = v.object({
  status: v.optional(v.string()),
  targetRefName: v.nullish(v.string()),
  isDraft: flag,
  mergeStatus: v.nullish(v.string()),
  mergeFailureMessage: v.nullish(v.string()),
  lastMergeSourceCommit: v.object({ commitId: v.pipe(v.string(), v.minLength(1)) }),
  reviewers: v.nullish(v.array(v.object({ vote: v.nullish(v.number(), 0) })), []),
  repository: v.nullish(v.object({ project: v.nullish(v.object({ id: v.string() })) })),
})
type Pull = v.InferOutput<typeof pullSchema>

const evaluationsSchema = v.object({
  value: v.array(
    v.object({
      status: v.nullish(v.string()),
      configuration: v.object({
        isBlocking: flag,
        isEnabled: flag,
        type: v.object({ id: v.string(), displayName: v.nullish(v.string()) }),
        settings: v.nullish(
          v.object({
            displayName: v.nullish(v.string()),
            statusName: v.nullish(v.string()),
            defaultDisplayName: v.nullish(v.string()),
            minimumApproverCount: v.nullish(v.number()),
            creatorVoteCounts: flag,
            allowNoFastForward: flag,
            allowSquash: flag,
            allowRebase: flag,
            allowRebaseMerge: flag,
            /** The form of Team Foundation Server: squash alone, or merge commits alone. */
            useSquashMerge: v.nullish(v.boolean()),
          }),
        ),
      }),
    }),
  ),
})
type Evaluations = v.InferOutput<typeof evaluationsSchema>['value']
type Evaluation = Evaluations[number]
type Strategy = 'noFastForward' | 'squash' | 'rebase' | 'rebaseMerge'

/**
 * Reads how the branch policies judge a pull request. Errors: those of the call, and null where the answer about the
 * pull request does not name its project.
 * @param project address of the project's interface
 */
export async function readEvaluations(
  call: AzureCall,
  project: string,
  pull: Pick<Pull, 'repository'>,
  number: number,
): Promise<Evaluations | null> {
  const id = pull.repository?.project?.id
  if (id === undefined) return null
  const artifact = encodeURIComponent(`vstfs:///CodeReview/CodeReviewId/${id}/${number}`)
  const { value } = await call(evaluationsSchema, 'GET', `${project}/_apis/policy/evaluations?artifactId=${artifact}`)
  return value.filter(({ configuration }) => configuration.isEnabled && configuration.isBlocking)
}

const repositorySchema = v.object({ defaultBranch: v.nullish(v.string()) })
const branchOf = (reference: string | null | undefined) => reference?.replace(/^refs\/heads\//, '')

/**
 * Reads the branch into which a pull request leads, and the default branch of its repository; both are undefined where
 * the host does not say the first. Errors: those of the call.
 * @param pulls address of the pull requests of the repository
 */
export async function readTarget(call: AzureCall, pulls: string, { targetRefName }: Pick<Pull, 'targetRefName'>) {
  if (!targetRefName) return {}
  const { defaultBranch } = await call(repositorySchema, 'GET', pulls.slice(0, pulls.lastIndexOf('/')))
  return { base: branchOf(targetRefName), defaultBranch: branchOf(defaultBranch) }
}

/** Returns the strategies that the policies allow, by method; null when none of them limits it. */
function allowedStrategies(evaluations: Evaluations): Map<MergeMethod, Strategy> | null {
  const limits = evaluations.filter(({ configuration }) => configuration.type.id.toLowerCase() === MERGE_STRATEGY)
  if (limits.length === 0) return null
  const allows = (strategy: Strategy) =>
    limits.every(({ configuration: { settings } }) => {
      if (typeof settings?.useSquashMerge === 'boolean')
        return strategy === (settings.useSquashMerge ? 'squash' : 'noFastForward')
      const flags = {
        noFastForward: settings?.allowNoFastForward,
        squash: settings?.allowSquash,
        rebase: settings?.allowRebase,
        rebaseMerge: settings?.allowRebaseMerge,
      }
      return flags[strategy] ?? false
    })
  const rebase = (['rebase', 'rebaseMerge'] as const).find(allows)
  return new Map([
    ...(allows('noFastForward') ? [['merge', 'noFastForward'] as const] : []),
    ...(allows('squash') ? [['squash', 'squash'] as const] : []),
    ...(rebase ? [['rebase', rebase] as const] : []),
  ])
}

const USUAL: Record<MergeMethod, Strategy> = { merge: 'noFastForward', squash: 'squash', rebase: 'rebase' }

/**
 * Returns method and strategy of a merge; null leaves them to the host, which is so where the operator prefers none
 * and no policy limits them.
 */
export function azureMethod(
  evaluations: Evaluations | null,
  preferred: MergeMethod | '',
): { method: MergeMethod; strategy: Strategy } | null {
  const allowed = evaluations && allowedStrategies(evaluations)
  if (!allowed) return preferred === '' ? null : { method: preferred, strategy: USUAL[preferred] }
  const [method] = orderMethods(preferred, [...allowed.keys()])
  return method ? { method, strategy: allowed.get(method) ?? USUAL[method] } : null
}

/** Reads what stands in the way of a merge. Errors: those of the call that reads the pull request. */
export async function azureReadiness(
  call: AzureCall,
  { project, address, number }: { project: string; address: string; number: number },
  { commit, preferred }: { commit: string | undefined; preferred: MergeMethod | '' },
): Promise<Readiness> {
  const pull = await call(pullSchema, 'GET', address)
  const found = new Findings()
  const current = pull.lastMergeSourceCommit.commitId
  if (pull.status === 'completed' && (commit === undefined || commit === current)) return MERGED
  if (pull.status === 'completed' || pull.status === 'abandoned') {
    const text =
      pull.status === 'completed' ? 'It was merged at another commit than the reviewed one.' : 'It was abandoned.'
    found.block('closed', text)
    return found.result()
  }
  blockMoved(found, commit, current)
  const pulls = address.slice(0, address.lastIndexOf('/'))
  const target = await found.ask('which branch is the default one', readTarget(call, pulls, pull))
  blockTarget(found, target?.base, target?.defaultBranch)
  blockByState(found, pull)
  const evaluations = await found.ask('what the branch policies say', readEvaluations(call, project, pull, number))
  found.method = evaluations && (azureMethod(evaluations, preferred)?.method ?? 'merge')
  blockByPolicies(found, evaluations ?? [], pull)
  return found.result()
}

function blockByState(found: Findings, { isDraft, mergeStatus, mergeFailureMessage, reviewers }: Pull): void {
  if (isDraft) found.block('draft', 'It is a draft.')
  if (mergeStatus === 'conflicts') found.block('conflict', 'The branch conflicts with the branch to merge into.')
  if (mergeStatus === 'queued' || mergeStatus === 'notSet')
    found.block('computing', 'Azure DevOps has not computed yet whether it can be merged.')
  if (mergeStatus === 'failure')
    found.block('policy', `Azure DevOps could not try the merge: ${mergeFailureMessage || 'it does not say why'}.`)
  const waiting = (reviewers ?? []).filter(({ vote }) => vote < 0).length
  if (waiting > 0)
    found.block('changes_requested', `${countOf(waiting, 'reviewer')} rejected it or waits for the author.`)
}

const nameOf = ({ configuration: { type, settings } }: Evaluation): string =>
  settings?.displayName || settings?.defaultDisplayName || settings?.statusName || type.displayName || 'a policy'

/** The kinds of policies that judge checks, reviewers and comments, by the identifier of their type. */
const CHECKS = ['0609b952-1397-4640-95ec-e00a01b2c241', 'cbdc66da-9728-4af8-aada-9a5a32e4a226']
const APPROVERS = 'fa4e907d-c16b-4a4c-9dfa-4906e5d171dd'
const REQUIRED_REVIEWERS = 'fd2167ab-b0be-447a-8ec8-39368250530e'
const COMMENTS = 'c6a1889d-b943-4856-b76f-9e46bb6b0df2'

function blockByPolicies(found: Findings, evaluations: Evaluations, { reviewers }: Pull): void {
  const checks: CheckState[] = []
  for (const evaluation of evaluations) {
    const { status, configuration } = evaluation
    const type = configuration.type.id.toLowerCase()
    if (!status || ['approved', 'notApplicable'].includes(status)) continue
    if (CHECKS.includes(type)) checks.push({ name: nameOf(evaluation), state: status })
    else if (type === APPROVERS) blockApprovers(found, evaluation, reviewers ?? [])
    else if (type === REQUIRED_REVIEWERS)
      found.block('reviews', `A required reviewer has not approved: ${nameOf(evaluation)}.`)
    else if (type === COMMENTS) found.block('discussions', 'Not all comments are resolved.')
    else if (type !== MERGE_STRATEGY)
      found.block('policy', `A branch policy is not met: ${nameOf(evaluation)} (${status}).`)
  }
  found.blockChecks(checks)
  if (allowedStrategies(evaluations)?.size === 0)
    found.block(
      'policy',
      `The branch policies allow no common merge method: ${MERGE_METHODS.join(', ')} are all excluded.`,
    )
}

/** The platform votes before it merges, so its own vote is not missing where votes of the author count. */
function blockApprovers(found: Findings, { configuration, status }: Evaluation, reviewers: { vote: number }[]): void {
  const { minimumApproverCount, creatorVoteCounts } = configuration.settings ?? {}
  const votes = reviewers.filter(({ vote }) => vote >= 5).length
  const needed = minimumApproverCount ?? 0
  if (needed <= votes + (creatorVoteCounts ? 1 : 0) && status !== 'rejected') return
  found.block(
    'reviews',
    needed > votes
      ? `It needs ${countOf(needed, 'approval')} and has ${votes}.`
      : 'The policy on reviewers is not met.',
  )
}
