import { COMPUTED } from '../../plan/code/literal.ts'
import type { Condition, Statement } from './document.ts'
import { fitsAction, isEverything } from './patterns.ts'

/** An issuer of tokens that serves many customers, or the workloads of one. */
interface Issuer {
  /** Fits the host and path of the issuer. */
  host: RegExp
  /** Claims, one of which has to say whose token it is; any claim but the audience when it is absent. */
  claims?: readonly string[]
  /** Reports whose tokens a pattern of the subject fits. Without it any pattern but `*` is somebody's. */
  audienceOf?(pattern: string): Audience
}

/**
 * Whose tokens are trusted: everyone's, all of one customer (an organization, a cluster), nobody's as a pattern for
 * everyone is taken literally, or certain ones.
 */
export type Audience = 'everyone' | 'customer' | 'nobody' | 'some'

/** From the widest to the narrowest. */
const AUDIENCES: readonly Audience[] = ['everyone', 'customer', 'nobody', 'some']

/** Returns the audience of a subject whose first part after a prefix names the customer. */
const subjectOf =
  (prefix: string, separator: string, wholes: RegExp, shared?: RegExp) =>
  (pattern: string): Audience => {
    if (isEverything(pattern) || shared?.test(pattern)) return 'everyone'
    if (!pattern.startsWith(prefix)) return audienceOfTail(pattern)
    const [customer = '', ...rest] = pattern.slice(prefix.length).split(separator)
    if (/[*?]/.test(customer)) return 'everyone'
    return rest.length > 0 && wholes.test(rest.join(separator)) ? 'customer' : 'some'
  }

/** A pattern that begins with a wildcard is everyone's when it names only a branch, a run or an environment behind it. */
const audienceOfTail = (pattern: string): Audience =>
  /^[*?]+(:?(ref|ref_type|environment|pull_request|event_name|workflow|run_phase)\b.*)?$/.test(pattern)
    ? 'everyone'
    : 'some'

/** A subject of GitHub that begins with what every repository can have, and names no owner; its form is customizable. */
const CHOSEN_BY_ANYONE =
  /^(workflow|environment|ref|head_ref|base_ref|ref_type|event_name|actor|context|run_id|run_number)[:*?](?!.*(repo|repository|repository_owner|repository_id|repository_owner_id|job_workflow_ref):)/

/**
 * Issuers after their own pages about OpenID Connect: GitHub, GitLab, HCP Terraform, Bitbucket, CircleCI, Buildkite,
 * Vercel, Azure DevOps, Google and Amazon EKS. Tokens of those with a customer in their address are only that customer's.
 */
const ISSUERS: readonly Issuer[] = [
  {
    host: /^token\.actions\.githubusercontent\.com$/,
    audienceOf: subjectOf('repo:', '/', /^\*+(:.*)?$/, CHOSEN_BY_ANYONE),
  },
  { host: /^gitlab\.com$/, audienceOf: subjectOf('project_path:', '/', /^\*+(:.*)?$/) },
  { host: /^app\.terraform\.io$/, audienceOf: subjectOf('organization:', ':', /^(project:\*+(:.*)?|\*+)$/) },
  { host: /^agent\.buildkite\.com$/, audienceOf: subjectOf('organization:', ':', /^(pipeline:\*+(:.*)?|\*+)$/) },
  { host: /^(accounts\.google\.com)$/, claims: ['sub', 'aud', 'oaud', 'hd', 'email'] },
  { host: /^cognito-identity\.amazonaws\.com$/, claims: ['aud', 'sub'] },
  { host: /^(www\.amazon\.com|graph\.facebook\.com)$/, claims: ['app_id', 'user_id', 'id'] },
]

/** Issuers of one customer: without a subject every workload of the customer is trusted. */
const OF_ONE_CUSTOMER =
  /^(oidc\.eks\.[^/]+\.amazonaws\.com(\.cn)?\/id\/|oidc\.circleci\.com\/org\/|api\.bitbucket\.org\/2\.0\/workspaces\/|vstoken\.dev\.azure\.com\/|oidc\.vercel\.com\/|token\.actions\.githubusercontent\.com\/|container\.googleapis\.com\/)/

const SERVICE_ACCOUNT = /^system:serviceaccount:(\*+$|\*+:\*+$)/

/** Claims that say for whom or by whom a token was made, but not whose it is. */
const NOT_WHOSE = new Set(['aud', 'amr', 'iss', 'azp', 'exp', 'iat', 'jti'])

const ACTION = 'sts:assumerolewithwebidentity'

/** Returns the widest audience of the tokens with which a role can be assumed; null when it trusts none. */
export function tokenAudience(statements: readonly Statement[]): Audience | null {
  const audiences = statements.flatMap((statement) => {
    const { allows, actions, principals } = statement
    if (!allows || !fitsAction(actions, ACTION)) return []
    return principals
      .filter(({ kind }) => kind === 'Federated')
      .flatMap(({ value }) => issuerOf(value, statement) ?? [])
      .map((issuer) => audienceFor(issuer, statement))
  })
  return AUDIENCES.find((audience) => audiences.includes(audience)) ?? null
}

/** Returns host and path of an issuer from its provider, or from the condition keys when that is not known yet. */
function issuerOf(provider: string, { conditions }: Statement): string | null {
  const [, issuer = provider] = /:oidc-provider\/(.+)$/.exec(provider) ?? []
  if (!issuer.includes(COMPUTED)) return issuer.toLowerCase()
  const keys = conditions.map(({ key }) => key.slice(0, Math.max(key.lastIndexOf(':'), 0)))
  return keys.find((key) => key !== '' && !key.includes(COMPUTED) && key !== 'aws') ?? null
}

/** Returns whose tokens an issuer signs that serves many customers; null for other issuers. */
const sharedIssuer = (url: string): Issuer | null =>
  ISSUERS.find(({ host, audienceOf }) => audienceOf && host.test(url.replace(/^https:\/\/|\/$/g, '').toLowerCase())) ??
  null

/** Returns whose tokens of a shared issuer have a subject that fits a pattern; null for other issuers. */
export const subjectAudience = (url: string, pattern: string): Audience | null => {
  const issuer = sharedIssuer(url)
  return issuer === null ? null : audienceOfSubject(pattern, issuer, 'everyone')
}

/** Claims that name the owner of a workload at GitHub, GitLab, HCP Terraform and Buildkite. */
const OWNER =
  /\b(repository|repository_owner|repository_id|repository_owner_id|sub|subject|job_workflow_ref|workflow_ref|enterprise|enterprise_id|namespace_path|namespace_id|project_path|project_id|user_login|terraform_organization_id|terraform_organization_name|terraform_project_id|terraform_workspace_id|organization_slug|organization_id|pipeline_slug)\b/

/**
 * Returns whose tokens of a shared issuer a condition in the Common Expression Language admits; null for other issuers.
 * Every alternative has to compare a claim that names the owner.
 * @param mapping attributes by name, each with the claim that it is read from
 */
export function conditionAudience(
  url: string,
  condition: string,
  mapping: ReadonlyMap<string, string>,
): Audience | null {
  const issuer = sharedIssuer(url)
  if (issuer === null) return null
  const audiences = condition.split('||').map((alternative): Audience => {
    const comparisons = alternative.split('&&').map((comparison) => audienceOfComparison(comparison, issuer, mapping))
    return AUDIENCES.findLast((audience) => comparisons.includes(audience)) ?? 'everyone'
  })
  return AUDIENCES.find((audience) => audiences.includes(audience)) ?? 'everyone'
}

function audienceOfComparison(comparison: string, issuer: Issuer, mapping: ReadonlyMap<string, string>): Audience {
  const named = comparison.replaceAll(/\b(attribute|google)\.\w+/g, (name) => mapping.get(name) ?? name)
  const texts = [...named.matchAll(/'([^']*)'|"([^"]*)"/g)].map(([, single, double]) => single ?? double ?? '')
  const compared = texts.filter((text) => !OWNER.test(text) || /[/:]/.test(text))
  const isOwner = OWNER.test(named.replaceAll(/(?<!\[)(?:'[^']*'|"[^"]*")/g, ''))
  if (!isOwner || /!=|!\s*\(/.test(named) || compared.every((text) => text === '')) return 'everyone'
  const isSubject = /\b(sub|subject)\b/.test(named)
  const isBeginning = /\.startsWith\(/.test(named)
  const isPattern = isBeginning || /\.matches\(/.test(named)
  const audiences = compared.map((text): Audience => {
    const pattern = isBeginning ? `${text}*` : text.replaceAll(/^\^|\$$/g, '').replaceAll('.*', '*')
    const audience = isSubject
      ? audienceOfSubject(pattern, issuer, 'everyone')
      : /[*?]/.test(pattern.split('/')[0] ?? '')
        ? 'everyone'
        : 'some'
    if (isPattern || !/[*?]/.test(text)) return audience
    return audience === 'everyone' ? 'nobody' : 'some'
  })
  return AUDIENCES.find((audience) => audiences.includes(audience)) ?? 'some'
}

/**
 * Returns whose tokens the expression of a flexible credential of Entra admits, such as
 * `claims['sub'] matches 'repo:acme/*'`; all its parts have to hold. Null for an issuer of one customer.
 */
export function expressionAudience(url: string, expression: string): Audience | null {
  const issuer = sharedIssuer(url)
  if (issuer === null) return null
  const parts = [...expression.matchAll(/claims\[['"](\w+)['"]\]\s+(eq|matches)\s+['"]([^'"]*)['"]/g)]
  const audiences = parts.map(([, claim = '', , value = '']): Audience => {
    if (claim === 'sub') return audienceOfSubject(value, issuer, 'everyone')
    return OWNER.test(claim) && !/^[*?]/.test(value) ? 'some' : 'everyone'
  })
  return AUDIENCES.findLast((audience) => audiences.includes(audience)) ?? 'everyone'
}

function audienceFor(issuer: string, { conditions }: Statement): Audience {
  const known = ISSUERS.find(({ host }) => host.test(issuer))
  if (!known && !OF_ONE_CUSTOMER.test(issuer)) return 'some'
  const whole: Audience = known ? 'everyone' : 'customer'
  const results = conditions
    .filter(({ key }) => isOfIssuer(key, issuer))
    .map((condition) => audienceBy(condition, known, whole))
  // A key that is known only after the apply may be the one that counts; of another issuer, it fits no token.
  if (conditions.some(({ key, ifExists }) => key.includes(COMPUTED) || (isOfOther(key, issuer) && !ifExists)))
    results.push('some')
  return AUDIENCES.findLast((audience) => results.includes(audience)) ?? whole
}

const isOfOther = (key: string, issuer: string) => key.startsWith(`${issuer}/`)
const isOfIssuer = (key: string, issuer: string) => key.slice(0, key.lastIndexOf(':')) === issuer

/** Returns whose tokens one condition admits; `whole` when it does not say whose. */
function audienceBy({ operator, key, values }: Condition, issuer: Issuer | undefined, whole: Audience): Audience {
  const claim = key.slice(key.lastIndexOf(':') + 1)
  if (issuer?.claims ? !issuer.claims.includes(claim) : NOT_WHOSE.has(claim)) return whole
  if (operator === 'null' || operator.includes('not')) return whole
  const isPattern = operator === 'stringlike'
  const audiences = values.map((value): Audience => {
    if (value.includes(COMPUTED) && !/^[*?]/.test(value)) return 'some'
    const audience = claim === 'sub' ? audienceOfSubject(value, issuer, whole) : isEverything(value) ? whole : 'some'
    if (isPattern || !/[*?]/.test(value)) return audience
    return audience === 'everyone' ? 'nobody' : 'some'
  })
  return AUDIENCES.find((audience) => audiences.includes(audience)) ?? 'some'
}

function audienceOfSubject(value: string, issuer: Issuer | undefined, whole: Audience): Audience {
  if (isEverything(value) || SERVICE_ACCOUNT.test(value)) return whole
  return issuer?.audienceOf?.(value) ?? 'some'
}
