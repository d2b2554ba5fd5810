import {
  type Edge,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
} from '@xyflow/react'
import text from '@xyflow/react/dist/base.css' with { type: 'text' }
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { PlannedResource } from '../../../client/api/client.ts'
import { ActionBadge, actionName, Button, Notice, Skeleton } from '../../../ui/kit.tsx'
import { excerpt, plural } from '../../../ui/words.ts'
import { countActions, type Graph, isCriticalLoss, shownAddress, shownName, type View } from '../graph-model.ts'
import { type Box, boxWith, type Drawing } from './grouping.ts'
import { BOX, isArrow, type Layout, nextPlace, useLayout } from './use-layout.ts'

// Loaded with the drawing, because no other screen needs them, and in the layer that styles of the screen override.
const sheet = new CSSStyleSheet()
sheet.replaceSync(`@layer kit{${text}}`)
document.adoptedStyleSheets.push(sheet)

interface CanvasProps {
  view: View
  drawing: Drawing
  onOpen: (group: string) => void
}

/** Draws the graph, with each dependency to the left of its dependents. */
export function Canvas(props: CanvasProps) {
  const layout = useLayout(props.drawing)
  if (!layout) return <Skeleton lines={10} label="Arranging the graph" />
  return (
    <ReactFlowProvider>
      <Flow {...props} layout={layout} />
    </ReactFlowProvider>
  )
}

const NODE_TYPES = { box: BoxNode }

function Flow({ layout, view, onOpen }: CanvasProps & { layout: Layout }) {
  const { fitView } = useReactFlow()
  const { graph, chosen, blast, choose: onChoose } = view
  const { drawing, places } = layout
  const chosenBox = chosen === null ? null : boxWith(drawing, chosen)
  const [current, setCurrent] = useState<string | null>(null)
  const surface = useRef<HTMLDivElement>(null)
  const tabStop = drawing.boxes.some(({ id }) => id === current) ? current : (chosenBox ?? drawing.boxes[0]?.id)
  const nodes = useMemo(
    () =>
      drawing.boxes.map((box, index): BoxNodeType => {
        const affected = box.members.filter((member) => blast.has(member)).length
        const isChosen = box.id === chosenBox
        const data = { box, graph, affected, isChosen, hasFocus: box.id === tabStop, onChoose, onOpen }
        return { id: box.id, type: 'box', position: places[index] ?? { x: 0, y: 0 }, data, ...BOX }
      }),
    [layout, graph, chosenBox, blast, tabStop, onChoose, onOpen],
  )
  const edges = useMemo(() => toEdges(drawing, chosenBox, blast), [drawing, chosenBox, blast])
  useEffect(() => {
    const near =
      chosenBox === null ? undefined : { nodes: nearTo(drawing, chosenBox, blast), maxZoom: 1, minZoom: READABLE }
    void fitView({ padding: 0.1, maxZoom: 1, ...near })
  }, [drawing, chosenBox])
  const move = (event: KeyboardEvent) => {
    const from = drawing.boxes.findIndex(({ id }) => id === tabStop)
    if (!isArrow(event.key) || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    const id = drawing.boxes[nextPlace(places, from, event.key) ?? from]?.id
    if (id === undefined) return
    setCurrent(id)
    void fitView({ nodes: [{ id }], maxZoom: 1, minZoom: 0.6 })
    surface.current?.querySelector<HTMLElement>(`[data-box="${CSS.escape(id)}"]`)?.focus()
  }
  return (
    <>
      {layout.isPlain && <Notice tone="warn">The layout failed, so the resources are shown in rows.</Notice>}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: arrow keys move between the buttons in it */}
      <div ref={surface} class="graph-surface" onKeyDown={move}>
        <ReactFlow nodes={nodes as Node[]} edges={edges} nodeTypes={NODE_TYPES} {...BEHAVIOUR} />
      </div>
      <Zoom />
    </>
  )
}

const BEHAVIOUR = {
  fitView: true,
  minZoom: 0.05,
  maxZoom: 1.5,
  nodesDraggable: false,
  nodesConnectable: false,
  nodesFocusable: false,
  edgesFocusable: false,
  elementsSelectable: false,
  disableKeyboardA11y: true,
  // The wheel scrolls the page; with Ctrl it zooms the drawing.
  zoomOnScroll: false,
  preventScrolling: false,
  zoomOnDoubleClick: false,
  deleteKeyCode: null,
  selectionKeyCode: null,
}

function toEdges({ boxes, ties }: Drawing, chosenBox: string | null, blast: ReadonlySet<number>): Edge[] {
  const hit = new Set(boxes.filter(({ members }) => members.some((member) => blast.has(member))).map(({ id }) => id))
  return ties.map(({ from, to }) => {
    const spreads = hit.has(to) && (hit.has(from) || from === chosenBox)
    return {
      id: `${from}>${to}`,
      source: from,
      target: to,
      className: spreads ? 'graph-tie graph-tie-hit' : 'graph-tie',
      markerEnd: { type: MarkerType.ArrowClosed, color: spreads ? 'var(--warn)' : 'var(--line-strong)' },
    }
  })
}

const MOST_IN_SIGHT = 20
/** The smallest readable zoom. */
const READABLE = 0.5

/** Returns a box, its neighbours and, unless there are too many, its blast radius. */
function nearTo({ boxes, ties }: Drawing, id: string, blast: ReadonlySet<number>): { id: string }[] {
  const hit = boxes.filter(({ members }) => members.some((member) => blast.has(member)))
  const near = new Set([id, ...(hit.length <= MOST_IN_SIGHT ? hit.map((box) => box.id) : [])])
  for (const { from, to } of ties) {
    if (from === id) near.add(to)
    if (to === id) near.add(from)
  }
  // The neighbours of a group are far apart.
  const isWide = near.size > MOST_IN_SIGHT || boxes.some(({ group }) => group !== null)
  return (isWide ? [id] : [...near]).map((other) => ({ id: other }))
}

function Zoom() {
  const { zoomIn, zoomOut, fitView } = useReactFlow()
  return (
    <div class="graph-zoom">
      <Button small aria-label="Zoom in" onClick={() => void zoomIn()}>
        +
      </Button>
      <Button small aria-label="Zoom out" onClick={() => void zoomOut()}>
        −
      </Button>
      <Button small onClick={() => void fitView({ padding: 0.1, maxZoom: 1 })}>
        Show all
      </Button>
    </div>
  )
}

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

type BoxNodeType = Node<BoxData>

/** Draws a resource or a group of them. */
function BoxNode({ data }: NodeProps<BoxNodeType>) {
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
