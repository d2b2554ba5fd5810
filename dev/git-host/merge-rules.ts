import { join } from 'node:path'
import { readText } from '../files.ts'
import { git, type Repository } from './repositories.ts'

const METHODS = ['merge', 'squash', 'rebase'] as const
export type Method = (typeof METHODS)[number]

/** A rule of a branch, as GitHub answers it. Those that are enforced here: see `judge`. */
export interface Rule {
  type: string
  parameters?: {
    allowed_merge_methods?: string[]
    required_approving_review_count?: number
    required_status_checks?: { context: string }[]
    strict_required_status_checks_policy?: boolean
    [name: string]: unknown
  }
}

/** What restricts merges in a repository, in GitHub's own fields. All of it is optional; nothing restricts. */
export interface MergeRules {
  /** Settings of the repository. */
  allow_merge_commit?: boolean
  allow_squash_merge?: boolean
  allow_rebase_merge?: boolean
  archived?: boolean
  /** False hides settings from the account, as GitHub hides them from those who may not push. */
  can_push?: boolean
  rules?: Rule[]
  /** Classic protection of the default branch, which only administrators may read. */
  protection?: {
    required_status_checks?: { strict: boolean; contexts: string[] }
    required_pull_request_reviews?: { required_approving_review_count: number }
    required_signatures?: { enabled: boolean }
    required_linear_history?: { enabled: boolean }
    lock_branch?: { enabled: boolean }
  }
  is_admin?: boolean
  /** What was reported for the head of every pull request. */
  check_runs?: { name: string; status: string; conclusion: string | null }[]
  statuses?: { context: string; state: string }[]
  /** The reviews of every pull request, the oldest first. */
  reviews?: { login: string; state: string }[]
  /** How many readings of a pull request do not know yet whether it can be merged. */
  unknown_readings?: number
  /** How many merges find that the base branch has just moved. */
  moved_bases?: number
}

export const rulesFile = ({ path }: { path: string }): string => join(path, 'platform-rules.json')

export const readRules = async (repository: Repository): Promise<MergeRules> =>
  JSON.parse((await readText(rulesFile(repository))) ?? '{}') as MergeRules

/** Returns the methods that settings, rules and classic protection allow together. */
export const allowedMethods = (rules: MergeRules): Method[] =>
  METHODS.filter(
    (method) =>
      allowsMethod(rules, method) &&
      !(method === 'merge' && isLinear(rules)) &&
      (rules.rules ?? []).every(({ parameters }) => parameters?.allowed_merge_methods?.includes(method) ?? true),
  )

const allowsMethod = (rules: MergeRules, method: Method): boolean =>
  ({ merge: rules.allow_merge_commit, squash: rules.allow_squash_merge, rebase: rules.allow_rebase_merge })[method] ??
  true

const isLinear = ({ rules = [], protection }: MergeRules): boolean =>
  rules.some(({ type }) => type === 'required_linear_history') ||
  (protection?.required_linear_history?.enabled ?? false)

/** Judges a pull request: GitHub's `mergeable_state`, and the text with which a merge by this method is refused. */
export async function judge(
  repository: Repository,
  rules: MergeRules,
  pull: { head_sha: string; base_sha: string; draft?: boolean },
  method: Method,
): Promise<{ state: string; refusal: string | null }> {
  if (pull.draft) return { state: 'draft', refusal: 'Pull Request is still a draft' }
  const strict =
    rules.protection?.required_status_checks?.strict ||
    rules.rules?.some(({ parameters }) => parameters?.strict_required_status_checks_policy)
  if (strict && (await isBehind(repository, pull)))
    return { state: 'behind', refusal: 'Head branch is not up to date with the base branch' }
  const missing = await findMissing(repository, rules, pull)
  if (missing) return { state: 'blocked', refusal: missing }
  if (!allowsMethod(rules, method)) return { state: 'clean', refusal: NOT_ALLOWED[method] }
  if (!allowedMethods(rules).includes(method))
    return {
      state: 'clean',
      refusal: 'Repository rule violations found\n\nThis branch must not contain merge commits.',
    }
  return { state: 'clean', refusal: null }
}

const NOT_ALLOWED: Record<Method, string> = {
  merge: 'Merge commits are not allowed on this repository.',
  squash: 'Squash merges are not allowed on this repository.',
  rebase: 'Rebase merges are not allowed on this repository.',
}

async function isBehind(repository: Repository, { head_sha, base_sha }: { head_sha: string; base_sha: string }) {
  return (await git(['--git-dir', repository.path, 'merge-base', '--is-ancestor', base_sha, head_sha])).code !== 0
}

/** Returns GitHub's sentence about the first requirement that is not met; null when all are. */
async function findMissing(
  repository: Repository,
  { rules = [], protection, reviews = [], check_runs = [], statuses = [] }: MergeRules,
  { head_sha, base_sha }: { head_sha: string; base_sha: string },
): Promise<string | null> {
  const has = (name: string) => rules.some(({ type }) => type === name)
  if (has('merge_queue')) return 'Repository rule violations found\n\nChanges must be made through the merge queue'
  if (has('update') || protection?.lock_branch?.enabled) return 'You are not authorized to push to this branch.'
  const required = [
    ...(protection?.required_status_checks?.contexts ?? []),
    ...rules.flatMap(({ parameters }) => (parameters?.required_status_checks ?? []).map(({ context }) => context)),
  ]
  const passed = new Set([
    ...check_runs
      .filter(({ conclusion }) => /^(success|neutral|skipped)$/.test(conclusion ?? ''))
      .map(({ name }) => name),
    ...statuses.filter(({ state }) => state === 'success').map(({ context }) => context),
  ])
  const check = required.find((name) => !passed.has(name))
  if (check) return `Required status check "${check}" is expected.`
  const votes = [...new Map(reviews.map(({ login, state }) => [login, state])).values()]
  if (votes.includes('CHANGES_REQUESTED')) return 'Changes have been requested.'
  const needed = Math.max(
    protection?.required_pull_request_reviews?.required_approving_review_count ?? 0,
    ...rules.map(({ parameters }) => parameters?.required_approving_review_count ?? 0),
  )
  if (votes.filter((state) => state === 'APPROVED').length < needed)
    return `At least ${needed} approving review is required by reviewers with write access.`
  if (!has('required_signatures') && !protection?.required_signatures?.enabled) return null
  const signed = await signedCommits(repository, head_sha, base_sha)
  return signed.every(({ verified }) => verified) ? null : 'Commits must have verified signatures.'
}

/** Lists the commits of a pull request. A signature counts as verified, because the host knows no keys. */
export async function signedCommits(repository: Repository, head: string, base: string) {
  const { stdout } = await git(['--git-dir', repository.path, 'rev-list', `${base}..${head}`])
  return await Promise.all(
    stdout
      .split('\n')
      .filter(Boolean)
      .map(async (sha) => {
        const object = await git(['--git-dir', repository.path, 'cat-file', 'commit', sha])
        return { sha, verified: /^gpgsig/m.test(object.stdout) }
      }),
  )
}
