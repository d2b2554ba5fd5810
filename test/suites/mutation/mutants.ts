import {
  isArrayLiteralExpression,
  isArrowFunction,
  isBinaryExpression,
  isBlock,
  isCallExpression,
  isConditionalExpression,
  isDoStatement,
  isElementAccessExpression,
  isExportDeclaration,
  isExpressionStatement,
  isForStatement,
  isIfStatement,
  isImportAttribute,
  isImportDeclaration,
  isNoSubstitutionTemplateLiteral,
  isObjectLiteralExpression,
  isPostfixUnaryExpression,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isRegularExpressionLiteral,
  isStringLiteral,
  isTaggedTemplateExpression,
  isTemplateExpression,
  isWhileStatement,
  type Node,
  type SourceFile,
  SyntaxKind,
} from 'typescript/unstable/ast'
import { mutateRegex } from './regex.ts'
import { mutateSql } from './sql.ts'

/** One small change of one file that a good test notices. */
export interface Mutant {
  /** From the root of the project, with `/`. */
  file: string
  /** Counted from 1. */
  line: number
  operator: string
  /** Offsets into the text of the file, in UTF-16 code units. */
  start: number
  end: number
  /** What stands there, and what stands there instead. */
  original: string
  replacement: string
}

/** Every mutant of a file, in the order of its text; whether the compiler accepts them is not asked here. */
export function mutantsOf(file: string, source: SourceFile): Mutant[] {
  const mutants: Mutant[] = []
  const visit = (node: Node): void => {
    if (isImportDeclaration(node) || isExportDeclaration(node) || isType(node)) return
    for (const { operator, at = node, replacement } of replacementsOf(node, source)) {
      const [start, end] = [at.getStart(source), at.getEnd()]
      const original = source.text.slice(start, end)
      const line = source.getLineAndCharacterOfPosition(start).line + 1
      if (original !== replacement) mutants.push({ file, line, operator, start, end, original, replacement })
    }
    node.forEachChild(visit)
  }
  visit(source)
  return mutants
}

export const applyTo = (text: string, { start, end, replacement }: Mutant): string =>
  text.slice(0, start) + replacement + text.slice(end)

interface Replacement {
  operator: string
  /** What is replaced; default the node itself. */
  at?: Node
  replacement: string
}

/** The operators of Stryker, as far as they can make a program that still type-checks, and one for SQL. */
function replacementsOf(node: Node, source: SourceFile): Replacement[] {
  const text = (part: Node) => part.getText(source)
  const all = (operator: string, replacements: readonly string[], at?: Node): Replacement[] =>
    replacements.map((replacement) => ({ operator, replacement, ...(at && { at }) }))

  if (isIfStatement(node)) return all('condition', ['true', 'false'], node.expression)
  if (isWhileStatement(node) || isDoStatement(node)) return all('condition', ['false'], node.expression)
  if (isForStatement(node)) return node.condition ? all('condition', ['false'], node.condition) : []
  if (isConditionalExpression(node)) return all('condition', ['true', 'false'], node.condition)
  if (isBinaryExpression(node)) return ofBinary(text(node.left), node.operatorToken, text(node.right), source)
  if (isPrefixUnaryExpression(node)) return all('unary', PREFIX[node.operator]?.(text(node.operand)) ?? [])
  if (isPostfixUnaryExpression(node)) {
    const opposite = node.operator === SyntaxKind.PlusPlusToken ? '--' : '++'
    return all('update', [`${text(node.operand)}${opposite}`])
  }
  if (node.kind === SyntaxKind.TrueKeyword) return all('boolean', ['false'])
  if (node.kind === SyntaxKind.FalseKeyword) return all('boolean', ['true'])
  if (isBlock(node)) return node.statements.length > 0 ? all('block', ['{}']) : []
  if (isArrowFunction(node)) return isBlock(node.body) ? [] : all('arrow function', ['undefined'], node.body)
  if (isArrayLiteralExpression(node)) return all('array', [node.elements.length > 0 ? '[]' : '["Mutated"]'])
  if (isObjectLiteralExpression(node)) return node.properties.length > 0 ? all('object', ['{}']) : []
  if (isRegularExpressionLiteral(node)) return all('regular expression', mutateRegex(text(node)))
  if (isTaggedTemplateExpression(node)) return all('sql', mutateSql(text(node.template)), node.template)
  if (isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node) || isTemplateExpression(node))
    return isValue(node) ? all('string', [isEmpty(text(node)) ? '"Mutated"' : '""']) : []
  if (isPropertyAccessExpression(node) || isElementAccessExpression(node))
    return node.questionDotToken
      ? all('optional chaining', [isPropertyAccessExpression(node) ? '.' : ''], node.questionDotToken)
      : []
  if (isCallExpression(node)) return ofCall(node, source)
  return []
}

const isEmpty = (literal: string) => literal.length === 2

/** A text that the program works with: no key, no template of a tag, no directive. */
function isValue(node: Node): boolean {
  const { parent } = node
  if (isTaggedTemplateExpression(parent) || isExpressionStatement(parent) || isImportAttribute(parent)) return false
  return !(isPropertyAssignment(parent) && parent.name === node)
}

/** Types hold texts and conditions too, which do nothing when the program runs. */
function isType(node: Node): boolean {
  return (
    (node.kind >= SyntaxKind.FirstTypeNode && node.kind <= SyntaxKind.LastTypeNode) ||
    node.kind === SyntaxKind.InterfaceDeclaration ||
    node.kind === SyntaxKind.TypeAliasDeclaration
  )
}

const PREFIX: Partial<Record<SyntaxKind, (operand: string) => string[]>> = {
  [SyntaxKind.ExclamationToken]: (operand) => [operand],
  [SyntaxKind.MinusToken]: (operand) => [`+${operand}`],
  [SyntaxKind.PlusToken]: (operand) => [`-${operand}`],
  [SyntaxKind.TildeToken]: (operand) => [operand],
  [SyntaxKind.PlusPlusToken]: (operand) => [`--${operand}`],
  [SyntaxKind.MinusMinusToken]: (operand) => [`++${operand}`],
}

const BINARY: Record<string, { operator: string; others: readonly string[] }> = {
  '<': { operator: 'equality', others: ['<=', '>='] },
  '<=': { operator: 'equality', others: ['<', '>'] },
  '>': { operator: 'equality', others: ['>=', '<='] },
  '>=': { operator: 'equality', others: ['>', '<'] },
  '===': { operator: 'equality', others: ['!=='] },
  '!==': { operator: 'equality', others: ['==='] },
  '==': { operator: 'equality', others: ['!='] },
  '!=': { operator: 'equality', others: ['=='] },
  '&&': { operator: 'logical', others: ['||'] },
  '||': { operator: 'logical', others: ['&&'] },
  '??': { operator: 'logical', others: ['&&'] },
  '+': { operator: 'arithmetic', others: ['-'] },
  '-': { operator: 'arithmetic', others: ['+'] },
  '*': { operator: 'arithmetic', others: ['/'] },
  '/': { operator: 'arithmetic', others: ['*'] },
  '%': { operator: 'arithmetic', others: ['*'] },
  '+=': { operator: 'assignment', others: ['-='] },
  '-=': { operator: 'assignment', others: ['+='] },
  '*=': { operator: 'assignment', others: ['/='] },
  '/=': { operator: 'assignment', others: ['*='] },
  '&&=': { operator: 'assignment', others: ['||='] },
  '||=': { operator: 'assignment', others: ['&&='] },
  '??=': { operator: 'assignment', others: ['&&='] },
}
const CONDITIONS = new Set(['<', '<=', '>', '>=', '===', '!==', '==', '!=', '&&', '||'])

function ofBinary(left: string, token: Node, right: string, source: SourceFile): Replacement[] {
  const sign = token.getText(source)
  const known = BINARY[sign]
  if (!known) return []
  // `a ?? b || c` is no program: where the operators were mixed, the parentheses keep it one.
  const changed = known.others.map((other) => ({
    operator: known.operator,
    replacement: `(${left} ${other} ${right})`,
  }))
  if (known.operator === 'assignment' || known.operator === 'arithmetic' || known.operator === 'equality')
    return [
      ...known.others.map((other) => ({ operator: known.operator, at: token, replacement: other })),
      ...(CONDITIONS.has(sign) ? conditions : []),
    ]
  return CONDITIONS.has(sign) ? [...changed, ...conditions] : changed
}
const conditions: Replacement[] = ['true', 'false'].map((replacement) => ({ operator: 'condition', replacement }))

/** Methods of texts and lists with a neighbour that takes the same arguments. */
const METHODS: Record<string, string> = {
  startsWith: 'endsWith',
  endsWith: 'startsWith',
  toUpperCase: 'toLowerCase',
  toLowerCase: 'toUpperCase',
  trimStart: 'trimEnd',
  trimEnd: 'trimStart',
  some: 'every',
  every: 'some',
  min: 'max',
  max: 'min',
}
/** Methods whose answer has the type of what they were called on. */
const LEFT_OUT = new Set(['trim', 'filter', 'slice', 'sort', 'toSorted', 'reverse', 'substring', 'substr', 'charAt'])

function ofCall(node: Node, source: SourceFile): Replacement[] {
  if (!isCallExpression(node) || !isPropertyAccessExpression(node.expression)) return []
  const { expression: subject, name } = node.expression
  const method = name.getText(source)
  const other = METHODS[method]
  if (other !== undefined) return [{ operator: 'method', at: name, replacement: other }]
  return LEFT_OUT.has(method) ? [{ operator: 'method', replacement: subject.getText(source) }] : []
}
