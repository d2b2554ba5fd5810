import { type ChangeAction, toReportAction } from '../../plan/actions.ts'
import { type Criticality, criticalityOf } from '../../plan/impact.ts'
import { isEvidence } from '../evidence.ts'
import type { Rule, Subject } from '../rule.ts'
import { flagOf, isUnknown, viewOf } from '../view.ts'

const PROTECTION = [
  'deletion_protection',
  'deletion_protection_enabled',
  'enable_deletion_protection',
  'termination_protection',
  'disable_api_termination',
]
/** Reports whether another rule tells of the deletion. */
const isToldElsewhere = ({ type, action }: Subject) =>
  action === 'delete' && (/^aws_s3_(bucket|account)_public_access_block$/.test(type) || isEvidence(type))
/** Reports whether a loss is of this kind, and no other rule tells of it. */
const loses = (subject: Subject, criticality: Criticality, ...actions: ChangeAction[]) =>
  actions.includes(subject.action) && criticalityOf(subject.type) === criticality && !isToldElsewhere(subject)
const FINAL_SNAPSHOT = [
  'aws_db_instance',
  'aws_rds_cluster',
  'aws_docdb_cluster',
  'aws_neptune_cluster',
  'aws_redshift_cluster',
]

const wasOn = ({ before }: Subject, key: string) => flagOf(viewOf(before), key) === true

export const changeRules: Rule[] = [
  {
    id: 'common.stateful.data-destroyed',
    title: 'Resource with data deleted',
    reason: 'Applying the code again brings the resource back, not its data.',
    fix:
      'Check that the data is not needed or is kept elsewhere; ' +
      'otherwise leave the resource in the code, or remove it from the state only.',
    severity: 'warning',
    looksAt: 'change',
    message: 'It holds data and is deleted.',
    isBrokenBy: (subject) => loses(subject, 'data', 'delete'),
  },
  {
    id: 'common.stateful.data-replaced',
    title: 'Resource with data replaced',
    reason: 'A replacement deletes the old object with its data and makes an empty one.',
    fix: 'Avoid the change that forces the replacement, or move the data first.',
    severity: 'warning',
    looksAt: 'change',
    message: 'It holds data and is replaced.',
    isBrokenBy: (subject) => loses(subject, 'data', 'replace'),
  },
  {
    id: 'common.stateful.unknown-lost',
    title: 'Resource of unknown content deleted or replaced',
    reason: 'Nothing tells whether a resource of this type holds data or grants access.',
    fix: 'Look at what it holds, and whether somebody depends on it, before applying.',
    severity: 'warning',
    looksAt: 'change',
    message: 'It cannot be told whether it holds data, and it is deleted or replaced.',
    isBrokenBy: (subject) => loses(subject, 'unknown', 'delete', 'replace'),
  },
  {
    id: 'common.stateful.access-removed',
    title: 'Resource that carries access deleted or replaced',
    reason:
      'Keys, identities and permissions that go take working connections with them; ' +
      'a deleted key makes data unreadable.',
    fix: 'Check who depends on it before applying.',
    severity: 'warning',
    looksAt: 'change',
    check: (subject) =>
      loses(subject, 'access', 'delete', 'replace')
        ? [`It carries access and is ${subject.action === 'delete' ? 'deleted' : 'replaced'}.`]
        : [],
  },
  {
    id: 'common.stateful.protection-removed',
    title: 'Protection against deletion switched off',
    reason: 'The next deletion is no longer stopped.',
    fix: 'Leave the protection on while the resource is needed.',
    severity: 'warning',
    looksAt: 'change',
    check: (subject) =>
      subject.action === 'update'
        ? PROTECTION.filter(
            (key) => wasOn(subject, key) && flagOf(subject, key) !== true && !isUnknown(subject, key),
          ).map((key) => `${key} is switched off.`)
        : [],
  },
  {
    id: 'aws.stateful.no-final-snapshot',
    title: 'Database deleted without a last snapshot',
    reason: 'Nothing is left to restore from but older backups, which may go with the database.',
    fix: 'Set skip_final_snapshot to false and name the snapshot.',
    severity: 'warning',
    types: FINAL_SNAPSHOT,
    looksAt: 'change',
    message: 'skip_final_snapshot is true.',
    isBrokenBy: (subject) =>
      (subject.action === 'delete' || subject.action === 'replace') && wasOn(subject, 'skip_final_snapshot'),
  },
  {
    id: 'common.scope.outside-targets',
    title: 'Change outside the targets of the request',
    reason: 'No target of the request names the resource; the engine changes it because a target depends on it.',
    fix: 'Check that the change is wanted; otherwise restrict the request.',
    severity: 'warning',
    looksAt: 'change',
    check: ({ address, action }, { outside }) =>
      outside.has(address) ? [`It is not among the targets (${toReportAction(action)}).`] : [],
  },
  {
    id: 'common.scope.unasked-loss',
    title: 'Destruction that the request does not ask for',
    reason:
      'The code of the session destroys the resource, or makes it anew, and no statement of the request is about that.',
    fix: 'Keep it with a moved block or leave it in the code; where it shall go, ask for that.',
    severity: 'error',
    looksAt: 'change',
    check: ({ address, action }, { unasked }) =>
      unasked.has(address)
        ? [`It is ${action === 'delete' ? 'destroyed' : 'destroyed and created anew'} unasked.`]
        : [],
  },
]
