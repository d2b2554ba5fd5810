import { useCallback } from 'preact/hooks'
import type { Round } from '../../../client/api/client.ts'
import { hasEnded, usePlanDocument } from '../../../client/sessions/use-session.ts'
import { Badge, Empty, Notice, Origin, SEVERITY_TONES, Term } from '../../../ui/kit.tsx'
import { excerpt, plural, visibleText } from '../../../ui/words.ts'
import { ReadDocument, useOpenSession } from '../../session/open-session.tsx'
import { type ChangedFile, useChangedFiles } from '../code/changes.ts'
import { LineLink, ResourceLink } from '../review-links.tsx'
import { type Compliance, type Finding, findBlock, readCompliance } from './compliance.ts'
import { Prose } from './prose.tsx'

/** Shows the compliance check of a round: its findings and its passed rules. */
export function CompliancePart({ round }: { round: Round }) {
  const check = round.compliance_checks.at(-1)
  return (
    <section class="report-part" aria-label="Compliance">
      <h2>
        <Term name="compliance">Compliance</Term>
      </h2>
      {check ? (
        <Check round={round} url={check.url} />
      ) : (
        <Empty title={hasEnded(round) ? 'Nothing was checked' : 'Not checked yet'}>
          {hasEnded(round)
            ? 'Rules are checked when a generate round has a valid plan. This round had none, or the operator has ' +
              'disabled the check.'
            : 'The rules are checked as soon as there is a valid plan.'}
        </Empty>
      )}
    </section>
  )
}

function Check({ round, url }: { round: Round; url: string }) {
  const { session } = useOpenSession()
  const plan = usePlanDocument(session.uuid, round)
  const files = useChangedFiles(session.uuid, round.code_changes)
  const parse = useCallback((document: unknown) => readCompliance(document, plan.data), [plan.data])
  return (
    <ReadDocument
      url={url}
      parse={parse}
      what="check"
      failure="The check could not be read."
      lines={6}
      unknown={<Notice tone="warn" title="The format of the check is unknown." />}
    >
      {(check) => (
        <>
          <Verdict check={check} />
          {check.findings.length > 0 && (
            <section aria-labelledby="compliance-found">
              <h3 id="compliance-found">{plural(check.findings.length, 'finding')}</h3>
              <ul class="report-points">
                {check.findings.slice(0, MAX_FINDINGS).map((finding, index) => (
                  <FindingCard key={index} finding={finding} files={files} />
                ))}
              </ul>
              {check.findings.length > MAX_FINDINGS && (
                <p class="quiet">{plural(check.findings.length - MAX_FINDINGS, 'more finding')} of lower severity.</p>
              )}
            </section>
          )}
          {check.passedGroups.length > 0 && <PassedRules check={check} />}
        </>
      )}
    </ReadDocument>
  )
}

const MAX_FINDINGS = 200

function Verdict({ check }: { check: Compliance }) {
  const { passed, checkedByCode, checkedByModel, summary, findings } = check
  const byCode = findings.filter(({ by }) => by === 'code').length
  const byModel = findings.length - byCode
  return (
    <div class={`notice notice-${passed ? 'good' : 'bad'} report-impact`}>
      <p class="report-line">
        <Badge tone={passed ? 'good' : 'bad'}>{passed ? 'Passed' : 'Failed'}</Badge>
        <span>
          {plural(checkedByCode, 'rule')} checked in the plan, {plural(byCode, 'finding')}
        </span>
        <Origin by="code" />
        {checkedByModel + byModel > 0 && (
          <>
            <span>
              {plural(checkedByModel, 'point')} checked by a model, {plural(byModel, 'finding')}
            </span>
            <Origin by="model" />
          </>
        )}
      </p>
      <p class="quiet small">
        {passed
          ? 'Passed: no finding is an error or critical. Code computes this from the severities.'
          : 'A finding that is an error or critical fails the check and locks the session. Code computes this.'}{' '}
        {!passed && <Term name="lock">What is a lock?</Term>}
      </p>
      {summary && (
        <div>
          <Prose text={summary} />
          {/* If code found something, the text begins with that. */}
          {byCode > 0 && <Origin by="code" />} <Origin by="model" />
        </div>
      )}
    </div>
  )
}

function FindingCard({ finding, files }: { finding: Finding; files: readonly ChangedFile[] }) {
  const { rule, severity, resource, message, fix, by } = finding
  const where = resource ? findBlock(resource, files) : null
  return (
    <li class="card">
      <p class="report-line">
        <Badge tone={SEVERITY_TONES[severity]}>{severity}</Badge>
        <b class="mono">{excerpt(rule, 200)}</b>
        <Origin by={by} />
      </p>
      <Prose text={message} />
      {resource && (
        <p class="report-line">
          <ResourceLink address={resource} />
          {where && <LineLink file={where.file} line={where.line} />}
        </p>
      )}
      {fix && (
        <>
          <h4>What to do</h4>
          <Prose text={fix} />
        </>
      )}
    </li>
  )
}

function PassedRules({ check }: { check: Compliance }) {
  const count = check.passedGroups.reduce((sum, { rules }) => sum + rules.length, 0)
  return (
    <details open={check.findings.length === 0}>
      <summary>{plural(count, 'rule')} without a finding</summary>
      <dl class="report-groups">
        {check.passedGroups.map(({ area, by, rules }) => (
          <div key={area}>
            <dt>
              {area} <Origin by={by} />
            </dt>
            <dd class="report-rules">
              {rules.slice(0, MAX_FINDINGS).map(({ id, name }) => (
                <Badge key={id} title={visibleText(id)}>
                  {excerpt(name, 200)}
                </Badge>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
