import { wordsOf } from '../../base/text.ts'
import { deniesWays, leavesIdentity } from './conditions.ts'
import type { Statement } from './document.ts'
import { coversEverything, fitsAction, fitsEach, isEverything } from './patterns.ts'

/** Resources of one kind that have nothing in common but their kind and their account. */
const KINDS = {
  user: ['user/u7', 'user/path/x2'],
  group: ['group/g7', 'group/path/x2'],
  role: ['role/r7', 'role/path/x2'],
  policy: ['policy/p7', 'policy/path/x2'],
} as const
type Kind = keyof typeof KINDS | 'anything'

/** The account of a pattern is its own, since policies of identities act there. */
const ACCOUNT = '111122223333'
const arnsOf = (kind: keyof typeof KINDS) => KINDS[kind].map((name) => `arn:aws:iam::${ACCOUNT}:${name}`)
const toOwnAccount = (pattern: string) => pattern.replace(/^(arn:[^:]*:iam::)\d{12}:/, `$1${ACCOUNT}:`)

/** A list of exceptions may name just what matters, so that it does not count as everything. */
const covers = ({ resources }: Statement, kind: Kind): boolean =>
  kind === 'anything' ? coversEverything({ resources }) : fitsEach(resources.map(toOwnAccount), arnsOf(kind))

const concerns = ({ actions, notActions }: Statement, action: string): boolean =>
  notActions.length > 0 ? !fitsAction(notActions, action) : fitsAction(actions, action)

/** Reports whether an identity may call an action on everything of a kind, whatever the conditions ask of a request. */
function mayCall(statements: readonly Statement[], action: string, kind: Kind): boolean {
  const name = action.toLowerCase()
  return (
    statements.some(
      (statement) =>
        statement.allows && concerns(statement, name) && covers(statement, kind) && leavesIdentity(statement),
    ) && !statements.some((statement) => !statement.allows && concerns(statement, name) && !deniesWays(statement))
  )
}

/** Reports whether the statements allow an identity every action on everything. */
export const isAdmin = (statements: readonly Statement[]): boolean =>
  statements.some(
    (statement) =>
      statement.allows &&
      coversEverything(statement) &&
      leavesIdentity(statement) &&
      statement.actions.some((action) => isEverything(action) || action === '*:*'),
  ) && mayCall(statements, 'iam:PutRolePolicy', 'role')

/** Actions of IAM, each of which gives permissions or credentials; by what it is called on. */
const GRANTS: [kind: Kind, actions: string[]][] = [
  ['user', wordsOf('AttachUserPolicy PutUserPolicy CreateAccessKey CreateLoginProfile UpdateLoginProfile')],
  ['group', wordsOf('AttachGroupPolicy PutGroupPolicy AddUserToGroup')],
  ['role', wordsOf('AttachRolePolicy PutRolePolicy UpdateAssumeRolePolicy')],
  ['policy', ['CreatePolicyVersion']],
]

/** Reports whether an identity may do with every identity what gives permissions, as with `iam:*` on everything. */
export const governsIam = (statements: readonly Statement[]): boolean => grantsIn(statements).length === GRANT_COUNT

const GRANT_COUNT = GRANTS.flatMap(([, actions]) => actions).length

/** Returns the actions by which an identity gives itself, or takes from any other, every permission. */
export const grantsIn = (statements: readonly Statement[]): string[] =>
  GRANTS.flatMap(([kind, actions]) =>
    actions.map((action) => `iam:${action}`).filter((action) => mayCall(statements, action, kind)),
  )

/**
 * Actions that lead to the permissions of other identities, where these are powerful, after the published lists of Rhino
 * Security Labs and of Bishop Fox. They are called on `*`, but for those of IAM.
 */
const STEPS: [action: string, kind: Kind][] = [
  ['iam:PassRole', 'role'],
  ['iam:SetDefaultPolicyVersion', 'policy'],
  ['iam:DeleteRolePermissionsBoundary', 'role'],
  ['iam:DeleteUserPermissionsBoundary', 'user'],
  ['sts:AssumeRole', 'role'],
  ['cloudformation:UpdateStack', 'anything'],
  ['ec2-instance-connect:SendSSHPublicKey', 'anything'],
  ['glue:UpdateDevEndpoint', 'anything'],
  ['lambda:UpdateFunctionCode', 'anything'],
  ['sagemaker:CreatePresignedNotebookInstanceUrl', 'anything'],
  ['ssm:SendCommand', 'anything'],
  ['ssm:StartSession', 'anything'],
]

/** Returns the actions by which an identity reaches the permissions of others. */
export const stepsIn = (statements: readonly Statement[]): string[] =>
  STEPS.filter(([action, kind]) => mayCall(statements, action, kind)).map(([action]) => action)
