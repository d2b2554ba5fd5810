import { Handle, type Node, type NodeProps, Position } from '@xyflow/react'
import type { PlannedResource } from '../../../client/api/schemas.ts'
import { ActionBadge, actionName } from '../../../ui/badge.tsx'
import { excerpt, plural } from '../../../ui/words.ts'
import { countActions, type Graph, isCriticalLoss, shownAddress, shownName } from '../graph-model.ts'
import type { Box } from './grouping.ts'

interface BoxData extends Record<string, unknown> {
  box: Box
  graph: Graph
  /** The number of its resources in the blast radius. */
  affected: number
  isChosen: boolean
  /** True for the one box that the Tab key reaches. */
  hasFocus: boolean
  onChoose: (index: number) => void
  onOpen: (group: string) => void
}

export type BoxNodeType = Node<BoxData>

/** Draws a resource or a group of them. */
export function BoxNode({ data }: NodeProps<BoxNodeType>) {
  const { box, graph, affected, isChosen, hasFocus } = data
  const members = box.members.map((index) => graph.resources[index] as PlannedResource)
  const isLoss = members.some(isCriticalLoss)
  const classes = ['graph-box', affected > 0 && 'graph-box-hit', isChosen && 'graph-box-chosen', isLoss && 'graph-loss']
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <button
        type="button"
        class={classes.filter(Boolean).join(' ')}
        data-box={box.id}
        tabIndex={hasFocus ? 0 : -1}
        aria-pressed={box.group ? undefined : isChosen}
        aria-disabled={box.group?.canOpen === false || undefined}
        onClick={() => {
          if (!box.group) data.onChoose(box.members[0] as number)
          else if (box.group.canOpen) data.onOpen(box.id)
        }}
      >
        {box.group ? (
          <GroupText title={box.group.title} members={members} canOpen={box.group.canOpen} />
        ) : (
          <ResourceText resource={members[0] as PlannedResource} isLoss={isLoss} />
        )}
        {affected > 0 && (
          <span class="graph-hit-sign">
            <span aria-hidden="true">◎</span>
            <span class="unseen">{box.group ? `${affected} affected` : 'affected'}</span>
          </span>
        )}
      </button>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </>
  )
}

const ResourceText = ({ resource, isLoss }: { resource: PlannedResource; isLoss: boolean }) => (
  <>
    <span class="graph-box-line">
      <ActionBadge action={resource.action} />
      <span class="graph-box-type">{isLoss ? 'critical' : excerpt(resource.type, 60)}</span>
    </span>
    <span class="graph-box-name" title={shownAddress(resource)}>
      {shownName(resource)}
    </span>
  </>
)

const GroupText = ({ title, members, canOpen }: { title: string; members: PlannedResource[]; canOpen: boolean }) => (
  <>
    <span class="graph-box-line">
      <b>{plural(members.length, 'resource')}</b>
      <span class="graph-box-type">
        {countActions(members)
          .slice(0, 2)
          .map(([action, count]) => `${count} ${actionName(action)}`)
          .join(', ')}
      </span>
    </span>
    <span class="graph-box-name" title={excerpt(title, 300)}>
      {canOpen && <span aria-hidden="true">⊞ </span>}
      {canOpen && <span class="unseen">Open </span>}
      {excerpt(title, 80)}
    </span>
  </>
)
