/**
 * Taskdeck design tokens: the one source of every colour, size and duration on the page.
 * `naiveTheme()` and `echartsTheme()` are derived from the same values, so a table, a tag and a chart line never disagree.
 * Colours were chosen in OKLCH and are stored as sRGB hex, because ECharts and naive-ui both parse hex.
 */
import type { Environment, TaskState } from '@contract'
import type { GlobalThemeOverrides } from 'naive-ui'

export type ThemeName = 'light' | 'dark'
type PerTheme<T> = Record<ThemeName, T>

/** Appends an alpha channel (0 to 1) to a #rrggbb colour. */
export function alpha(hex: string, opacity: number): string {
  return (
    hex +
    Math.round(Math.min(1, Math.max(0, opacity)) * 255)
      .toString(16)
      .padStart(2, '0')
  )
}

/* ── surfaces, text, accent, meaning ─────────────────────────────────────────────── */

export interface Palette {
  /** Behind everything: rail, status bar, gutters. */
  canvas: string
  /** The sheet that holds content. Contrast is measured against it. */
  surface: string
  /** Wells: code, logs, inputs inside a raised surface. */
  sunken: string
  /** Drawers, popovers, palette. */
  raised: string
  hover: string
  selected: string
  border: string
  borderStrong: string
  text: string
  textMuted: string
  /** Labels and axes. The weakest colour that may carry information (AA on `surface`). */
  textSubtle: string
  /** Disabled text and placeholders only; exempt from AA, never information. */
  textDisabled: string
  /** Focus ring, selection marks, the active tab. Never a data colour. */
  accent: string
  accentHover: string
  accentPressed: string
  /** Fill of the one primary button; white text on it passes AA. */
  accentSolid: string
  /** Links and accent-coloured text. */
  accentText: string
  onAccent: string
  good: string
  warn: string
  bad: string
  info: string
  /** Text on a solid state or environment fill. */
  onSolid: string
  scrim: string
  shadowPopover: string
  shadowDrawer: string
}

export const palette: PerTheme<Palette> = {
  dark: {
    canvas: '#0c0e13',
    surface: '#12141a',
    sunken: '#090b0f',
    raised: '#1a1c23',
    hover: '#1b1d24',
    selected: '#212538',
    border: '#22242b',
    borderStrong: '#363942',
    text: '#ebedf1',
    textMuted: '#acafb9',
    textSubtle: '#898e98',
    textDisabled: '#555860',
    accent: '#7a87ef',
    accentHover: '#8a98fb',
    accentPressed: '#6873de',
    accentSolid: '#575ed9',
    accentText: '#9daafa',
    onAccent: '#ffffff',
    good: '#52c79a',
    warn: '#f6bd48',
    bad: '#f96459',
    info: '#58acf1',
    onSolid: '#0b0d12',
    scrim: '#05060999',
    shadowPopover: '0 0 0 1px #363942, 0 12px 32px -8px #000000b3',
    shadowDrawer: '-1px 0 0 #363942, -24px 0 48px -24px #000000b3'
  },
  light: {
    canvas: '#f5f6f8',
    surface: '#ffffff',
    sunken: '#f0f1f4',
    raised: '#ffffff',
    hover: '#f2f4f6',
    selected: '#e8ecfc',
    border: '#e0e2e5',
    borderStrong: '#c6c9ce',
    text: '#181c23',
    textMuted: '#4f525c',
    textSubtle: '#656871',
    textDisabled: '#9c9ea5',
    accent: '#4e52d0',
    accentHover: '#5b64db',
    accentPressed: '#4040b9',
    accentSolid: '#4e52d0',
    accentText: '#4749c3',
    onAccent: '#ffffff',
    good: '#007654',
    warn: '#8f5d04',
    bad: '#c92324',
    info: '#0b68b2',
    onSolid: '#ffffff',
    scrim: '#181c2366',
    shadowPopover: '0 0 0 1px #d5d8dc, 0 12px 32px -8px #181c2333',
    shadowDrawer: '-1px 0 0 #d5d8dc, -24px 0 48px -24px #181c2333'
  }
}

/* ── task states: colour for the mark, shape for everyone ────────────────────────── */

/** Silhouettes drawn by `StateMark.vue` on a 12 px grid; each is told apart without colour. */
export type StateShape =
  | 'ring-dashed'
  | 'ring'
  | 'triangle'
  | 'loop'
  | 'bars'
  | 'ring-square'
  | 'disc-check'
  | 'disc-half'
  | 'diamond-cross'
  | 'ring-slash'

export const taskState: Record<TaskState, PerTheme<string> & { shape: StateShape }> = {
  CREATED: { dark: '#898c94', light: '#84888f', shape: 'ring-dashed' },
  QUEUED: { dark: '#80b0c6', light: '#467289', shape: 'ring' },
  RUNNING: { dark: '#3593f1', light: '#006cd9', shape: 'triangle' },
  RETRY_WAIT: { dark: '#fbb541', light: '#c67c0c', shape: 'loop' },
  PAUSED: { dark: '#c395eb', light: '#7230a5', shape: 'bars' },
  CANCEL_REQUESTED: { dark: '#f3b1cd', light: '#d55e94', shape: 'ring-square' },
  SUCCESS: { dark: '#59ca9a', light: '#2a956c', shape: 'disc-check' },
  PARTIAL_SUCCESS: { dark: '#ddec84', light: '#808f31', shape: 'disc-half' },
  FAILED: { dark: '#f95b52', light: '#c91b1f', shape: 'diamond-cross' },
  CANCELLED: { dark: '#6c6f76', light: '#505259', shape: 'ring-slash' }
}

/** Order of stacking, legends and filters: waiting first, then live, then ended. */
export const stateOrder: TaskState[] = [
  'CREATED',
  'QUEUED',
  'RETRY_WAIT',
  'PAUSED',
  'RUNNING',
  'CANCEL_REQUESTED',
  'SUCCESS',
  'PARTIAL_SUCCESS',
  'FAILED',
  'CANCELLED'
]

/* ── environments ────────────────────────────────────────────────────────────────── */

export const environment: Record<Environment, PerTheme<string> & { icon: string }> = {
  local: { dark: '#858993', light: '#4b505a', icon: 'device-laptop' },
  development: { dark: '#5acfd3', light: '#048085', icon: 'git-branch' },
  staging: { dark: '#f1af5d', light: '#a76319', icon: 'flask' },
  production: { dark: '#f25289', light: '#b10056', icon: 'shield-lock' }
}

/* ── data colours that are not states ────────────────────────────────────────────── */

export const series: PerTheme<{
  /** Arrivals, and the ended work that answers them. */
  in: string
  out: string
  /** One hue, three weights: the higher the percentile, the stronger the line. */
  p50: string
  p95: string
  p99: string
  threshold: string
  incident: string
  /** Unordered categories (types, workers). Six at most, then "other". */
  category: string[]
  /** Low to high for heat maps; the first step is "zero", which is not "unknown" (hatched). */
  heat: string[]
}> = {
  dark: {
    in: '#acafb9',
    out: '#59ca9a',
    p50: '#5d6fa8',
    p95: '#8fa3e8',
    p99: '#d5dcfb',
    threshold: '#f6bd48',
    incident: '#f96459',
    category: ['#80b0c6', '#c395eb', '#59ca9a', '#e0b568', '#7f9cf5', '#d58fb0'],
    heat: ['#171920', '#3a2023', '#5d2726', '#8a302b', '#bf4139', '#f95b52', '#ffb3a5']
  },
  light: {
    in: '#656871',
    out: '#2a956c',
    p50: '#8390c8',
    p95: '#5563bd',
    p99: '#2b3487',
    threshold: '#b0760c',
    incident: '#c92324',
    category: ['#467289', '#7230a5', '#2a956c', '#a66314', '#4e52d0', '#b04a7c'],
    heat: ['#f5f6f8', '#fde3de', '#fac4bb', '#f29a8e', '#e2675d', '#c91b1f', '#7f0d14']
  }
}

/* ── type, space, shape, motion ──────────────────────────────────────────────────── */

export const font = {
  sans: '"Inter Variable", Inter, "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", system-ui, sans-serif',
  mono: '"JetBrains Mono Variable", "JetBrains Mono", ui-monospace, "Noto Sans Mono CJK SC", monospace',
  /** Running text: a slashed zero, so that 0 is not O. */
  features: '"zero", "calt", "ss03"',
  /** Numbers, tables, times: also tabular. Not for prose, where Inter's `tnum` widens the hyphen. */
  numericFeatures: '"tnum", "zero", "calt", "ss03"',
  weight: { regular: 400, medium: 500, strong: 600 }
} as const

/** px size / px line height. */
export const type = {
  label: { size: 11, line: 16 },
  small: { size: 12, line: 16 },
  body: { size: 13, line: 20 },
  heading: { size: 15, line: 20 },
  title: { size: 20, line: 28 },
  number: { size: 28, line: 32 }
} as const

/** 4 px grid; 2 and 6 only inside controls. */
export const space = { hair: 2, xs: 4, s: 6, m: 8, l: 12, xl: 16, xxl: 24, xxxl: 32 } as const
export const radius = { mark: 2, tag: 3, control: 5, panel: 8, palette: 10 } as const

export const size = {
  rail: 216,
  railCollapsed: 52,
  topBar: 40,
  toolbar: 40,
  statusBar: 24,
  drawer: 528,
  rowCompact: 24,
  row: 28,
  rowComfortable: 36,
  tableHead: 28,
  controlTiny: 20,
  controlSmall: 24,
  control: 28,
  controlLarge: 32,
  numberTile: 104,
  chart: 172,
  timeStrip: 32,
  icon: 16,
  iconSmall: 14,
  mark: 12
} as const

/** ms. Under `prefers-reduced-motion` every duration is 0; data never animates. */
export const motion = {
  instant: 0,
  fast: 80,
  base: 120,
  slow: 180,
  ease: 'cubic-bezier(0.2, 0, 0, 1)'
} as const

export const layer = { sticky: 10, drawer: 100, popover: 200, palette: 300, toast: 400 } as const

/* ── CSS variables, for the few rules that no component covers ───────────────────── */

export function cssVariables(theme: ThemeName): Record<string, string> {
  const variables: Record<string, string> = {
    '--font-sans': font.sans,
    '--font-mono': font.mono,
    '--font-features': font.features,
    '--font-numeric': font.numericFeatures,
    '--ease': motion.ease,
    '--motion-fast': `${motion.fast}ms`,
    '--motion-base': `${motion.base}ms`,
    '--motion-slow': `${motion.slow}ms`,
    '--env-tint': theme === 'dark' ? '9%' : '5%'
  }
  const kebab = (name: string) =>
    name
      .replace(/_/g, '-')
      .replace(/[A-Z]/g, (c, i) => (i && name !== name.toUpperCase() ? '-' : '') + c.toLowerCase())
      .toLowerCase()
  for (const [name, value] of Object.entries(palette[theme])) variables[`--${kebab(name)}`] = value
  for (const [name, entry] of Object.entries(taskState)) variables[`--state-${kebab(name)}`] = entry[theme]
  for (const [name, entry] of Object.entries(environment)) variables[`--env-${name}`] = entry[theme]
  for (const [name, value] of Object.entries(series[theme]))
    if (typeof value === 'string') variables[`--series-${name}`] = value
  series[theme].heat.forEach((value, step) => {
    variables[`--heat-${step}`] = value
  })
  for (const name of ['good', 'warn', 'bad', 'info', 'accent'] as const) {
    variables[`--${name}-soft`] = alpha(palette[theme][name], theme === 'dark' ? 0.14 : 0.09)
    variables[`--${name}-line`] = alpha(palette[theme][name], theme === 'dark' ? 0.38 : 0.32)
  }
  for (const [name, px] of Object.entries(size)) variables[`--size-${kebab(name)}`] = `${px}px`
  for (const [name, px] of Object.entries(radius)) variables[`--radius-${name}`] = `${px}px`
  return variables
}

/* ── naive-ui ────────────────────────────────────────────────────────────────────── */

/** Use with `:theme="theme === 'dark' ? darkTheme : null"`; these overrides replace what looks stock. */
export function naiveTheme(theme: ThemeName): GlobalThemeOverrides {
  const p = palette[theme]
  const soft = (hex: string) => alpha(hex, theme === 'dark' ? 0.16 : 0.1)
  const ring = `0 0 0 2px ${alpha(p.accent, 0.35)}`
  const control = theme === 'dark' ? p.raised : p.surface
  const status = (name: 'Info' | 'Success' | 'Warning' | 'Error', hex: string) => ({
    [`color${name}`]: soft(hex),
    [`textColor${name}`]: hex,
    [`border${name}`]: '1px solid transparent'
  })
  return {
    common: {
      fontFamily: font.sans,
      fontFamilyMono: font.mono,
      fontWeight: '400',
      fontWeightStrong: '600',
      fontSize: '13px',
      fontSizeMini: '11px',
      fontSizeTiny: '11px',
      fontSizeSmall: '12px',
      fontSizeMedium: '13px',
      fontSizeLarge: '13px',
      fontSizeHuge: '15px',
      lineHeight: '1.5385',
      borderRadius: `${radius.control}px`,
      borderRadiusSmall: `${radius.tag}px`,
      heightMini: '16px',
      heightTiny: '20px',
      heightSmall: '24px',
      heightMedium: '28px',
      heightLarge: '32px',
      heightHuge: '40px',
      primaryColor: p.accent,
      primaryColorHover: p.accentHover,
      primaryColorPressed: p.accentPressed,
      primaryColorSuppl: p.accent,
      infoColor: p.info,
      infoColorHover: p.info,
      infoColorPressed: p.info,
      infoColorSuppl: p.info,
      successColor: p.good,
      successColorHover: p.good,
      successColorPressed: p.good,
      successColorSuppl: p.good,
      warningColor: p.warn,
      warningColorHover: p.warn,
      warningColorPressed: p.warn,
      warningColorSuppl: p.warn,
      errorColor: p.bad,
      errorColorHover: p.bad,
      errorColorPressed: p.bad,
      errorColorSuppl: p.bad,
      textColorBase: p.text,
      textColor1: p.text,
      textColor2: p.text,
      textColor3: p.textSubtle,
      textColorDisabled: p.textDisabled,
      placeholderColor: p.textSubtle,
      placeholderColorDisabled: p.textDisabled,
      iconColor: p.textSubtle,
      iconColorHover: p.text,
      iconColorPressed: p.text,
      iconColorDisabled: p.textDisabled,
      bodyColor: p.canvas,
      cardColor: p.surface,
      modalColor: p.raised,
      popoverColor: p.raised,
      tableColor: p.surface,
      tableHeaderColor: p.surface,
      tableColorHover: p.hover,
      tableColorStriped: p.surface,
      hoverColor: p.hover,
      pressedColor: p.selected,
      inputColor: control,
      inputColorDisabled: p.canvas,
      actionColor: p.canvas,
      codeColor: p.sunken,
      tabColor: p.canvas,
      tagColor: p.hover,
      borderColor: p.borderStrong,
      dividerColor: p.border,
      railColor: p.borderStrong,
      invertedColor: p.sunken,
      closeIconColor: p.textSubtle,
      closeIconColorHover: p.text,
      closeIconColorPressed: p.text,
      closeColorHover: p.hover,
      closeColorPressed: p.selected,
      clearColor: p.textSubtle,
      clearColorHover: p.text,
      clearColorPressed: p.text,
      scrollbarColor: alpha(p.textSubtle, 0.32),
      scrollbarColorHover: alpha(p.textSubtle, 0.55),
      scrollbarWidth: '8px',
      scrollbarHeight: '8px',
      progressRailColor: p.border,
      boxShadow1: p.shadowPopover,
      boxShadow2: p.shadowPopover,
      boxShadow3: p.shadowDrawer,
      opacityDisabled: '0.45',
      cubicBezierEaseInOut: motion.ease,
      cubicBezierEaseOut: motion.ease,
      cubicBezierEaseIn: motion.ease
    },
    Button: {
      fontWeight: '500',
      waveOpacity: '0',
      rippleDuration: '0s',
      paddingTiny: '0 6px',
      paddingSmall: '0 8px',
      paddingMedium: '0 10px',
      paddingLarge: '0 14px',
      iconMarginSmall: '6px',
      iconMarginMedium: '6px',
      iconSizeSmall: '14px',
      iconSizeMedium: '16px',
      color: control,
      colorHover: p.hover,
      colorPressed: p.selected,
      colorFocus: control,
      border: `1px solid ${p.borderStrong}`,
      borderHover: `1px solid ${p.borderStrong}`,
      borderPressed: `1px solid ${p.borderStrong}`,
      borderFocus: `1px solid ${p.accent}`,
      textColor: p.text,
      textColorHover: p.text,
      textColorPressed: p.text,
      textColorFocus: p.text,
      colorPrimary: p.accentSolid,
      colorHoverPrimary: p.accentPressed,
      colorPressedPrimary: p.accentPressed,
      colorFocusPrimary: p.accentSolid,
      borderPrimary: '1px solid transparent',
      borderHoverPrimary: '1px solid transparent',
      borderPressedPrimary: '1px solid transparent',
      borderFocusPrimary: `1px solid ${p.accentText}`,
      textColorPrimary: p.onAccent,
      textColorHoverPrimary: p.onAccent,
      textColorPressedPrimary: p.onAccent,
      textColorFocusPrimary: p.onAccent,
      colorDisabledPrimary: p.accentSolid,
      textColorDisabledPrimary: p.onAccent,
      borderDisabledPrimary: '1px solid transparent',
      colorError: p.bad,
      colorHoverError: p.bad,
      colorPressedError: p.bad,
      textColorError: p.onSolid,
      textColorHoverError: p.onSolid,
      textColorPressedError: p.onSolid,
      textColorFocusError: p.onSolid,
      textColorGhostError: p.bad,
      textColorTextPrimary: p.accentText,
      textColorTextHoverPrimary: p.accentText,
      colorQuaternaryHover: p.hover,
      colorQuaternaryPressed: p.selected
    },
    Input: {
      color: control,
      colorFocus: control,
      border: `1px solid ${p.borderStrong}`,
      borderHover: `1px solid ${p.textDisabled}`,
      borderFocus: `1px solid ${p.accent}`,
      boxShadowFocus: ring,
      caretColor: p.accent,
      paddingSmall: '0 8px',
      paddingMedium: '0 8px',
      iconSize: '14px',
      fontSizeSmall: '12px'
    },
    InternalSelection: {
      color: control,
      colorActive: control,
      border: `1px solid ${p.borderStrong}`,
      borderHover: `1px solid ${p.textDisabled}`,
      borderActive: `1px solid ${p.accent}`,
      borderFocus: `1px solid ${p.accent}`,
      boxShadowFocus: ring,
      boxShadowActive: ring,
      caretColor: p.accent,
      paddingSingle: '0 24px 0 8px',
      arrowSize: '12px'
    },
    InternalSelectMenu: {
      color: p.raised,
      optionColorPending: p.hover,
      optionColorActive: p.selected,
      optionColorActivePending: p.selected,
      optionTextColorActive: p.text,
      optionCheckColor: p.accentText,
      optionHeightSmall: '26px',
      optionHeightMedium: '28px',
      optionFontSizeMedium: '13px'
    },
    Dropdown: {
      color: p.raised,
      optionColorHover: p.hover,
      optionTextColorHover: p.text,
      optionHeightMedium: '28px',
      padding: '4px',
      borderRadius: `${radius.panel}px`
    },
    DataTable: {
      fontSizeSmall: '12px',
      fontSizeMedium: '13px',
      thPaddingSmall: '0 8px',
      tdPaddingSmall: '0 8px',
      thPaddingMedium: '0 12px',
      tdPaddingMedium: '0 12px',
      lineHeight: '1.5',
      borderRadius: '0',
      borderColor: p.border,
      thColor: p.surface,
      thColorHover: p.hover,
      thColorSorting: p.surface,
      tdColor: p.surface,
      tdColorHover: p.hover,
      tdColorSorting: p.surface,
      tdColorStriped: p.surface,
      thTextColor: p.textSubtle,
      thFontWeight: '500',
      tdTextColor: p.text,
      thIconColor: p.textDisabled,
      thIconColorActive: p.accentText,
      thButtonColorHover: p.hover,
      thColorModal: p.raised,
      tdColorModal: p.raised,
      tdColorHoverModal: p.hover,
      borderColorModal: p.border,
      thColorPopover: p.raised,
      tdColorPopover: p.raised,
      boxShadowBefore: `inset -12px 0 8px -12px ${p.scrim}`,
      boxShadowAfter: `inset 12px 0 8px -12px ${p.scrim}`,
      loadingColor: p.accent,
      loadingSize: '16px',
      emptyPadding: '48px 0'
    },
    Tabs: {
      tabFontSizeSmall: '12px',
      tabFontSizeMedium: '13px',
      tabFontWeight: '500',
      tabFontWeightActive: '500',
      tabGapSmallLine: '16px',
      tabGapMediumLine: '20px',
      tabPaddingSmallLine: '6px 0',
      tabPaddingMediumLine: '8px 0',
      barColor: p.accent,
      tabTextColorLine: p.textSubtle,
      tabTextColorHoverLine: p.text,
      tabTextColorActiveLine: p.text,
      tabBorderColor: p.border,
      colorSegment: p.sunken,
      tabColorSegment: p.raised,
      tabTextColorSegment: p.textMuted,
      tabTextColorActiveSegment: p.text,
      tabBorderRadius: `${radius.control}px`
    },
    Tag: {
      borderRadius: `${radius.tag}px`,
      heightTiny: '16px',
      heightSmall: '18px',
      heightMedium: '20px',
      fontSizeTiny: '11px',
      fontSizeSmall: '11px',
      fontSizeMedium: '12px',
      padding: '0 5px',
      color: p.hover,
      textColor: p.textMuted,
      border: '1px solid transparent',
      colorBordered: p.hover,
      fontWeightStrong: '500',
      ...status('Info', p.info),
      ...status('Success', p.good),
      ...status('Warning', p.warn),
      ...status('Error', p.bad)
    },
    Checkbox: {
      sizeSmall: '14px',
      sizeMedium: '14px',
      borderRadius: `${radius.tag}px`,
      color: control,
      border: `1px solid ${p.borderStrong}`,
      colorChecked: p.accentSolid,
      borderChecked: `1px solid ${p.accentSolid}`,
      borderFocus: `1px solid ${p.accent}`,
      boxShadowFocus: ring,
      checkMarkColor: p.onAccent,
      labelPadding: '0 0 0 8px'
    },
    Radio: {
      buttonHeightSmall: '24px',
      buttonHeightMedium: '28px',
      buttonColor: control,
      buttonColorActive: p.selected,
      buttonTextColor: p.textMuted,
      buttonTextColorActive: p.text,
      buttonTextColorHover: p.text,
      buttonBorderColor: p.borderStrong,
      buttonBorderColorActive: p.borderStrong,
      buttonBorderColorHover: p.borderStrong,
      buttonBoxShadow: 'none',
      buttonBoxShadowHover: 'none',
      buttonBoxShadowFocus: ring,
      fontSizeSmall: '12px'
    },
    Switch: {
      railHeightSmall: '14px',
      railWidthSmall: '26px',
      buttonHeightSmall: '10px',
      buttonWidthSmall: '10px',
      railHeightMedium: '16px',
      railWidthMedium: '28px',
      buttonHeightMedium: '12px',
      buttonWidthMedium: '12px',
      railColor: p.borderStrong,
      railColorActive: p.accentSolid,
      boxShadowFocus: ring,
      buttonBoxShadow: 'none'
    },
    Form: {
      labelFontSizeTopSmall: '12px',
      labelFontSizeTopMedium: '12px',
      labelTextColor: p.textMuted,
      labelHeightSmall: '20px',
      labelHeightMedium: '20px',
      labelPaddingVertical: '0 0 2px',
      feedbackHeightSmall: '16px',
      feedbackHeightMedium: '20px',
      feedbackFontSizeSmall: '11px',
      feedbackFontSizeMedium: '11px',
      feedbackTextColorError: p.bad,
      feedbackTextColorWarning: p.warn,
      blankHeightSmall: '24px',
      blankHeightMedium: '28px'
    },
    Drawer: {
      color: p.raised,
      boxShadow: p.shadowDrawer,
      headerPadding: '12px 16px',
      bodyPadding: '0',
      footerPadding: '8px 16px',
      titleFontSize: '15px',
      titleFontWeight: '600',
      headerBorderBottom: `1px solid ${p.border}`,
      footerBorderTop: `1px solid ${p.border}`,
      borderRadius: '0'
    },
    Dialog: {
      color: p.raised,
      padding: '16px',
      borderRadius: `${radius.panel}px`,
      titleFontSize: '15px',
      fontSize: '13px',
      iconSize: '18px',
      border: `1px solid ${p.borderStrong}`
    },
    Card: {
      color: p.surface,
      borderColor: p.border,
      borderRadius: `${radius.panel}px`,
      paddingSmall: '12px',
      paddingMedium: '16px',
      titleFontSizeSmall: '13px',
      titleFontSizeMedium: '13px',
      titleFontWeight: '600'
    },
    Popover: {
      color: p.raised,
      boxShadow: p.shadowPopover,
      borderRadius: `${radius.panel}px`,
      padding: '8px 12px',
      space: '4px',
      fontSize: '12px',
      arrowHeight: '0px'
    },
    Tooltip: {
      color: theme === 'dark' ? '#2a2d36' : p.text,
      textColor: theme === 'dark' ? p.text : p.surface,
      padding: '4px 8px',
      borderRadius: `${radius.control}px`,
      boxShadow: p.shadowPopover
    },
    Message: {
      color: p.raised,
      boxShadow: p.shadowPopover,
      borderRadius: `${radius.panel}px`,
      padding: '8px 12px',
      fontSize: '13px'
    },
    Notification: {
      color: p.raised,
      boxShadow: p.shadowPopover,
      borderRadius: `${radius.panel}px`,
      padding: '12px',
      fontSize: '13px'
    },
    Alert: {
      borderRadius: `${radius.control}px`,
      padding: '8px 12px',
      fontSize: '13px',
      border: `1px solid ${p.border}`,
      color: p.surface,
      iconSize: '16px',
      colorError: soft(p.bad),
      borderError: `1px solid ${alpha(p.bad, 0.35)}`,
      iconColorError: p.bad,
      colorWarning: soft(p.warn),
      borderWarning: `1px solid ${alpha(p.warn, 0.35)}`,
      iconColorWarning: p.warn
    },
    Progress: { railColor: p.border, fillColor: p.info, railHeight: '4px', fontSize: '12px' },
    Descriptions: {
      thTextColor: p.textSubtle,
      tdTextColor: p.text,
      thPaddingBorderedSmall: '4px 8px',
      tdPaddingBorderedSmall: '4px 8px',
      borderColor: p.border
    },
    Empty: { textColor: p.textMuted, iconColor: p.textDisabled, extraTextColor: p.textSubtle, fontSizeMedium: '13px' },
    Skeleton: { color: p.hover, colorEnd: p.border, borderRadius: `${radius.tag}px` },
    Spin: { color: p.accent, sizeSmall: '14px', sizeMedium: '18px' },
    Pagination: {
      itemSizeSmall: '24px',
      itemSizeMedium: '24px',
      itemBorderActive: `1px solid ${p.accent}`,
      itemColorActive: p.selected,
      itemTextColorActive: p.text
    },
    Layout: {
      color: p.surface,
      siderColor: p.canvas,
      siderBorderColor: p.border,
      headerColor: p.surface,
      headerBorderColor: p.border,
      footerColor: p.canvas,
      footerBorderColor: p.border
    },
    Menu: {
      itemHeight: '28px',
      borderRadius: `${radius.control}px`,
      itemColorActive: p.selected,
      itemColorActiveHover: p.selected,
      itemColorHover: p.hover,
      itemTextColor: p.textMuted,
      itemTextColorActive: p.text,
      itemTextColorActiveHover: p.text,
      itemTextColorHover: p.text,
      itemIconColor: p.textSubtle,
      itemIconColorActive: p.accentText,
      itemIconColorHover: p.text,
      fontSize: '13px'
    },
    Scrollbar: {
      color: alpha(p.textSubtle, 0.32),
      colorHover: alpha(p.textSubtle, 0.55),
      width: '8px',
      height: '8px',
      borderRadius: '4px'
    },
    Divider: { color: p.border }
  }
}

export const lightThemeOverrides = naiveTheme('light')
export const darkThemeOverrides = naiveTheme('dark')

/* ── ECharts ─────────────────────────────────────────────────────────────────────── */

/** Register once per theme: `registerTheme('taskdeck-dark', echartsTheme('dark'))`. */
export function echartsTheme(theme: ThemeName) {
  const p = palette[theme]
  const s = series[theme]
  const label = { color: p.textSubtle, fontSize: type.label.size, fontFamily: font.sans }
  const axis = {
    axisLine: { show: false, lineStyle: { color: p.border, width: 1 } },
    axisTick: { show: false, lineStyle: { color: p.borderStrong, width: 1 }, length: 3 },
    axisLabel: { ...label, margin: 6, hideOverlap: true },
    splitLine: { show: false, lineStyle: { color: p.border, width: 1, type: 'solid' as const } },
    splitArea: { show: false },
    nameTextStyle: label,
    axisPointer: {
      lineStyle: { color: p.textSubtle, width: 1, type: 'solid' as const },
      label: {
        show: false,
        color: p.text,
        backgroundColor: p.raised,
        borderColor: p.borderStrong,
        borderWidth: 1,
        padding: [1, 4],
        margin: 2,
        fontSize: type.label.size,
        shadowBlur: 0
      }
    }
  }
  return {
    darkMode: theme === 'dark',
    color: s.category,
    backgroundColor: 'transparent',
    textStyle: { fontFamily: font.sans, fontSize: type.label.size, color: p.textMuted },
    animation: false,
    title: { show: false },
    legend: { show: false },
    grid: { left: 40, right: 8, top: 8, bottom: 20, containLabel: false },
    categoryAxis: axis,
    timeAxis: axis,
    logAxis: { ...axis, splitLine: { ...axis.splitLine, show: true } },
    valueAxis: { ...axis, splitNumber: 3, splitLine: { ...axis.splitLine, show: true } },
    line: {
      symbol: 'none',
      showSymbol: false,
      smooth: false,
      connectNulls: false,
      lineStyle: { width: 1.5, cap: 'butt', join: 'round' },
      emphasis: { disabled: true }
    },
    bar: { barCategoryGap: '20%', itemStyle: { borderRadius: 0 }, emphasis: { disabled: true } },
    scatter: { symbolSize: 5 },
    heatmap: {
      itemStyle: { borderWidth: 1, borderColor: p.surface },
      emphasis: { itemStyle: { borderColor: p.text, borderWidth: 1 } }
    },
    visualMap: { show: false, color: [...s.heat].reverse(), textStyle: label },
    tooltip: {
      trigger: 'axis',
      transitionDuration: 0,
      confine: true,
      appendToBody: true,
      backgroundColor: p.raised,
      borderColor: p.borderStrong,
      borderWidth: 1,
      padding: [6, 8],
      textStyle: { color: p.text, fontSize: type.small.size, fontFamily: font.sans },
      extraCssText: `border-radius:${radius.control}px;box-shadow:none;font-feature-settings:${font.numericFeatures.replace(/"/g, "'")};`,
      axisPointer: { type: 'line', animation: false, lineStyle: { color: p.textSubtle, width: 1, type: 'solid' } }
    },
    axisPointer: {
      lineStyle: { color: p.textSubtle, width: 1 },
      label: {
        show: false,
        color: p.text,
        backgroundColor: p.raised,
        borderColor: p.borderStrong,
        borderWidth: 1,
        padding: [1, 4],
        margin: 2,
        fontSize: type.label.size,
        shadowBlur: 0
      }
    },
    brush: { brushStyle: { color: alpha(p.accent, 0.14), borderColor: p.accent, borderWidth: 1 } },
    dataZoom: {
      backgroundColor: p.sunken,
      fillerColor: alpha(p.accent, 0.16),
      borderColor: p.border,
      handleStyle: { color: p.accent, borderColor: p.accent },
      dataBackground: { lineStyle: { color: p.borderStrong }, areaStyle: { color: p.border } },
      textStyle: label
    },
    markLine: {
      symbol: 'none',
      silent: true,
      lineStyle: { color: s.threshold, width: 1, type: [4, 3] },
      label: { ...label, color: p.warn }
    },
    markArea: { silent: true, itemStyle: { color: alpha(s.incident, 0.07) } }
  }
}

export const echartsLight = echartsTheme('light')
export const echartsDark = echartsTheme('dark')
