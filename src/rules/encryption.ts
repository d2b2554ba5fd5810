import type { Cloud, PlanContext, Rule, Subject, View } from './rule.ts'
import { blocksAt, flagOf, isAbsent, isUnknown, textOf } from './view.ts'

/** The attribute of a resource type that controls encryption at rest. */
export interface EncryptionSwitch {
  type: string
  /** Path of the attribute, for example `root_block_device.encrypted`; all steps but the last are blocks. */
  path: string
  /** The text that switches encryption off, in capitals; absent for booleans. */
  off?: string
  /** True where encryption is off unless the code sets the attribute. */
  offByDefault?: true
  /** Condition on the resource; `lacks` reports whether an argument has no value. */
  when?: (subject: Subject, lacks: Lacks) => boolean
}

/** True if an argument has no value. */
export type Lacks = (key: string) => boolean

const isOff = (view: View, key: string, { off }: EncryptionSwitch) =>
  off === undefined ? flagOf(view, key) === false : textOf(view, key)?.toUpperCase() === off

function splitPath(path: string): { blocks: string; key: string } {
  const end = path.lastIndexOf('.')
  return { blocks: path.slice(0, Math.max(end, 0)), key: path.slice(end + 1) }
}

const holders = (subject: Subject, blocks: string) => (blocks === '' ? [subject] : blocksAt(subject, blocks))

/** Creates a cloud's encryption rules: one for encryption switched off, one for encryption not switched on. */
export function encryptionRules(cloud: Cloud, switches: readonly EncryptionSwitch[]): Rule[] {
  const switchesOf = (subject: Subject, context: PlanContext) => {
    const lacks = lacksOf(subject, context)
    return switches.filter(({ type, when }) => type === subject.type && (when?.(subject, lacks) ?? true))
  }
  const optional = switches.filter((each) => each.offByDefault)
  const missing: Rule = {
    id: `${cloud}.encryption.missing`,
    title: 'Encryption at rest not switched on',
    reason:
      'The default of this resource is to store data without encryption, ' +
      'and most cannot be changed later without replacement.',
    fix: 'Switch encryption on, with a key of your own where the data asks for it.',
    severity: 'warning',
    cloud,
    types: [...new Set(optional.map(({ type }) => type))],
    check: (subject, context) =>
      switchesOf(subject, context)
        .filter((each) => each.offByDefault)
        .filter(
          (each) =>
            isMissing(subject, each.path, context) ||
            (isOffAt(subject, each) && isDefault(subject, each.path, context)),
        )
        .map(({ path }) => `${path} is not set and defaults to no encryption.`),
  }
  const disabled: Rule = {
    id: `${cloud}.encryption.disabled`,
    title: 'Encryption at rest switched off',
    reason: 'Whoever gets at the disks, the backups or the snapshots reads the data.',
    fix: 'Switch encryption on; with the key of the provider it costs nothing.',
    severity: 'error',
    cloud,
    types: [...new Set(switches.map(({ type }) => type))],
    check: (subject, context) =>
      switchesOf(subject, context)
        .filter((each) => isOffAt(subject, each) && !isDefault(subject, each.path, context))
        .map(({ path }) => `${path} switches encryption off.`),
  }
  return optional.length === 0 ? [disabled] : [disabled, missing]
}

function isOffAt(subject: Subject, each: EncryptionSwitch): boolean {
  const { blocks, key } = splitPath(each.path)
  return holders(subject, blocks).some((holder) => isOff(holder, key, each))
}

/** Reports whether an attribute is off only as the provider's default: some plan `false` for unset arguments. */
function isDefault({ address }: Subject, path: string, { expressionsOf }: PlanContext): boolean {
  const expressions = expressionsOf(address)
  return !path.includes('.') && Object.keys(expressions).length > 0 && !Object.hasOwn(expressions, path)
}

/** Reports whether the code leaves an argument unset; providers may plan such an argument as unknown. */
const lacksOf =
  (subject: Subject, { expressionsOf }: PlanContext): Lacks =>
  (key) => {
    if (isAbsent(subject, key)) return true
    const expressions = expressionsOf(subject.address)
    return isUnknown(subject, key) && Object.keys(expressions).length > 0 && !Object.hasOwn(expressions, key)
  }

function isMissing(subject: Subject, path: string, context: PlanContext): boolean {
  const { blocks, key } = splitPath(path)
  if (blocks === '') return lacksOf(subject, context)(key)
  const [first = ''] = blocks.split('.')
  const blockViews = blocksAt(subject, blocks)
  return blockViews.length === 0 ? isAbsent(subject, first) : blockViews.some((holder) => isAbsent(holder, key))
}
