import { writePlanDocument } from '../../../src/plan/document/create-document.ts'
import type { PlanDocumentFacts } from '../../../src/plan/document/plan-document.ts'
import type { BeyondTargets } from '../../../src/plan/targets.ts'
import { storePlanDocument, storePlanText } from '../../../src/reports/artifacts.ts'
import { aboutAddresses } from '../../../src/rules/intent/resources.ts'
import type { StatementResult } from '../../../src/rules/intent/statement.ts'
import type { Kit } from '../../kit/kit.ts'
import { withFallback } from '../../kit/run.ts'
import { checkRules } from './check-rules.ts'
import type { ValidPlan } from './plan.ts'

/** The plan of an attempt, as far as it was made. */
export interface PlanToStore {
  /** The engine's text, masked; nothing is stored when it is empty. */
  text: string
  targets: string[]
  /** The plan that was read; absent when none could be read. */
  plan?: ValidPlan
  /** The statements of the request, when the plan was compared with them. */
  statements?: readonly StatementResult[]
}

/** Stores text and, if read, document of a plan. Errors: the object store's about the text; `LeaseLost`. */
export async function storePlan(kit: Kit, { text, targets, plan, statements }: PlanToStore): Promise<void> {
  const { run } = kit
  if (text === '') return
  const stored = await storePlanText(run.context, run.round, { text, targets }, run.signal)
  if (!plan) return
  plan.stored = stored
  await storeDocument(kit, plan, () => describeStatements(plan, statements))
}

/** Stores the document of a reviewed plan again, with the results of the review. Errors: `LeaseLost`. */
export async function completePlanDocument(
  kit: Kit,
  valid: ValidPlan,
  review: { beyond: BeyondTargets | null; checked: readonly StatementResult[] },
): Promise<void> {
  const { enable_compliance_checker } = kit.run.context.config.orchestration
  await storeDocument(kit, valid, async () => ({
    ...describeStatements(valid, review.checked),
    beyond: review.beyond,
    ...(enable_compliance_checker && { findings: (await checkRules(kit, valid)).findings }),
  }))
}

async function storeDocument(
  kit: Kit,
  { plan, reference, stored }: ValidPlan,
  findFacts: () => Partial<PlanDocumentFacts> | Promise<Partial<PlanDocumentFacts>>,
): Promise<void> {
  const { run, secrets } = kit
  if (!stored) return
  await withFallback(run, 'a plan is stored without its document', undefined, async () => {
    const engine = await kit.engine.info()
    const facts = { plan, targets: reference.targets, masker: secrets, engine, ...(await findFacts()) }
    const document = await writePlanDocument(facts, run.signal)
    await storePlanDocument(run.context, run.round, stored, document, run.signal)
  })
}

const describeStatements = ({ plan }: ValidPlan, results: readonly StatementResult[] | undefined) =>
  results && results.length > 0
    ? {
        statements: aboutAddresses(results, plan).map(({ result: { statement, verdict, finding }, addresses }) => ({
          id: statement.id,
          text: statement.text,
          verdict,
          finding,
          addresses,
        })),
      }
    : {}
