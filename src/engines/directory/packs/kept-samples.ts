/**
 * Files of packs as format 1 had them, compressed by gzip, in base64. They are kept so that every later release is tested to
 * read and to upgrade them. All bodies are those of `sampleBody`; labels are `SAMPLE_LABEL`.
 */
import { gunzipSync } from 'node:zlib'

export const SAMPLE_LABEL = '{"key":"k"}'

/** `body 3 line 0`, `body 3 line 1` and so on. */
export function sampleBody(nth: number): Buffer {
  return Buffer.from(Array.from({ length: 200 }, (_, line) => `body ${nth} line ${line}\n`).join(''))
}

/** Blobs of the sample that are there, and the numbers of their bodies. The fourth is void in the first file. */
export const SAMPLE_BLOBS: ReadonlyMap<string, number> = new Map([
  ['01a206211731aaaaaaaa0001-00000024-00c3d', 0],
  ['01a206211731aaaaaaaa0001-00000c61-00115', 1],
  ['01a206211731aaaaaaaa0001-000019b3-00c3d', 3],
  ['01a206211731aaaaaaaa0001-000025f0-00c3d', 3],
  ['01a206211770bbbbbbbb0001-00000c61-00114', 6],
  ['01a206211770bbbbbbbb0001-00000d75-00c3d', 7],
])
/** One that was unlinked, and is still in its file. */
export const SAMPLE_DEAD = '01a206211731aaaaaaaa0001-00000d76-00c3d'

/** By name: a pack that was appended to, a record of it that was written anew elsewhere, and a pack that was compacted. */
export function samplePacks(): ReadonlyMap<string, Buffer> {
  return new Map(FILES.map(({ name, lines }) => [name, gunzipSync(Buffer.from(lines.join(''), 'base64'))]))
}

const FILES = [
  {
    name: '01a206211731aaaaaaaa0001',
    lines: [
      'H4sIAAAAAAACA+3ZS4jVBRiG8XMqTMyhC5kJUTpNpEJ0vvc91zbRlSIrEaUoiMlSTBuLFoZI0EDE0JWCFgWRWUGNbewyBhVJCdUmKAiCoXZu3N',
      'SirUyeKcv3adsmOAcU/irMw3H83vPDW+7ccOPGG26rZqPRaB5YsmZlzc7Ozjaafz157cFts7fcvKkajcY5jUZjotFYfsHwx6Orple8ffCNK6/9',
      '+bl7943v2rZ3/JrxXeNPbH3kwb2rW6sffmj3ttWtZac/VTwpnhxP7XjqxFM3nnrx1I+nQX51xGRNZU5lT2VQZVFlUmVTZVRllbJKeI+ySlmlrF',
      'JWKauUVcoqZZWzylll/NVllbPKWeWsclY5q5xV7axqZ1U7q9r4jsqqdla1s6qdVe2samdVJ6s6WdXJqk5WdfCNnlWdrOpkVSerOlnVzapuVnWz',
      'qptV3azq4t9fVnWzqptV3azqZVUvq3pZ1cuqXlb1sqqHs5BVvazqZVU/q/pZ1c+qflb1s6qfVf2s6uNaZVU/qwZZNciqQVYNsmqQVYOsGmTVIK',
      'sGOKK8ojijLdzRFg5pC5e0hVPawi1t4Zi2cE1bOKct9P3rzKOPh56Xnqeet57Hntee5x73vnDwS9wh9OHmF45+4eoXzn7h7hcOf+HyF05/4faX',
      'OZTow/kv3P/CABQWoDABhQ0ojEBhBQozUG0uOfqwBIUpKGxBYQwKa1CYg8IeFAahsAjV4UcN9GEUCqtQmIXCLhSGobAMhWkobENhHKrLz0Lowz',
      '4UBqKwEIWJKGxEYSQKK1GYicJOVI8f1tCHqShsRWEsCmtRmIvCXhQGo7AYhcmoPj9Nog+rUZiNwm4UhqOwHIXpKGxHYTwK61EDftwdLFvEQ3OI',
      'h+X3/4mHxvEXx/Y+MMTDJRNXfn8aHtZ+fPWJxt1jZze23n7phUdWPn3muUvf7y28P7HunQ3rDq2/486lXy4sLCwMfbJ+/OTrwKsnX6vOH77m56',
      'Y+nZqfu+LWlycOT81fNPylQwsLC18M/+wzMzMzMzu2b9++/eYbT76Ozk3N756fm7r15Ylvp+bnPt9x9NhTF5+1bMnSp8fObi5pNJ/8+t3Vn50Y',
      'O/LWzs5599UvzzanDv+8Z/70n16/6/Ifjh9774PN62Yvmf198/HNu9dvW3/VKwc2TT/W2jg5uXHj5OTk/v2Tk/tfWD795sqda1Zcv2bDu0+9tn',
      'T6m9c/3ffrT88371l8U5qLohrbc0pUW657/JPhm/LJ8zddS1EpRKUQlUJUClEpRKUQlUJUClEpRKUQlVJUSlEpRaUUlVJUSlEpRaUUlVJUSlEp',
      'RaUUlVJUSlEpRaUUlVJUSlEpRaUUlVJUSlEpRaUUlVJUSlEpRaUUlVJUSlEpRaUUlVJUSlEpRaUUlVJUSlEpRaUUlVJUSlEpRaUUlVJUSlEpRa',
      'UUlVJUSlEpRaUUlVJUSlEpRaUUlVJUSlEpRaUUlVJUSlEpRaUUlVJUSlEpRaUUlVJUSlEpRaUUlVJUSlEpRaUUlVJUSlEpRaUUlVJUSlEpRaUU',
      'lVJUSlEpRaUUlVJUSlEJohJEJYhKEJUgKkFUgqgEUQmiEkQliEoQlSAqQVSCqARRCaISRCWIShCVICpBVIKoBFEJohJEJYhKEJUgKkFUgqgEUQ',
      'miEkQliEoQlSAqQVSCqARRCaISRCWIShCVICpBVIKoBFEJohJEJYhKEJUgKkFUgqgEUQmiEkQliEoQlSAqQVSCqARRCaISRCWIShCVICpBVIKo',
      'BFEJohJEJYhKEJUgKkFUgqgEUQmiEkQliEoQlSAqQVSCqARRCaISRCWIShCVICpBVIKoBFEJohJEJYhKKaozFvGw6sNTeJjd8uJ3Qzx8tOuzl4',
      'gHBx4ceHDgwX/jYfc/T+34vU48deOpF0/9eBrkV0dM1lTmnJoUJx6ceHDiwYkHJx6ceHDiwYkHJx6ceHDiwYkHJx6ceHDiwYkHJx6ceHDiwYkH',
      'Jx6ceHDiwYkHJx6ceHDiwYkHJx6ceHDiwYkHJx6ceHDiwYkHJx6ceHDiwYkHJx6ceHDiwYkHJx6ceHDiwYkHJx6ceHDiwYkHJx6ceHDiwYkHJx',
      '6ceHDiwYkHJx6ceHDiwYkHJx6ceHDiwYkHJx6ceHDiwYkHJx6ceHDiwYkHJx6ceHDiwYkHJx6ceHDiwYkHJx6ceDDwYODBwIOBBwMPBh4MPBh4',
      'MPBg4MHAg4EHAw8GHgw8GHgw8GDgwcCDgQcDDwYeDDwYeDDwYODBwIOBBwMPBh4MPBh4MPBg4MHAg4EHAw8GHgw8GHgw8GDgwcCDgQcDDwYeDD',
      'wYeDDwYODBwIOBBwMPBh4MPBh4MPBg4MHAg4EHAw8GHgw8GHgw8GDgwcCDgQcDDwYeDDwYeDDwYODBwIOBBwMPBh4MPBh4MPBg4MHAg4EHAw8G',
      'Hgw8GHgw8GDgwcCDgQcDDwYeDDwYeDDwYODBwIPx3zGLeLjiN+Lhx4OXffVf4OGRER5GeBjhYYSHER5GeBjhYYSHER5GeBjh4f+Phz8AWMTPwi',
      '0yAAA=',
    ],
  },
  {
    name: '01a206211731aaaaaaaa0001.aaaaaaaa0002',
    lines: [
      'H4sIAAAAAAACA2XXvWpUURhG4T2NYLQQG7EbpxG78559/raliowoKIKFjYWYQiZoHUS8BPEKBLEay1h6DVpY23sZElRwLQMpvjTzkMy862R7/9',
      '6tBzfvZlVKWX04c+VS9vv9vqz+XEff31z7tr39MKWUc6VcPinl/MXT7/2jt18/fnp/9fPuy7tXm93h8eb6Zrd5/fTls+N1XR89f3G47g7+vYKr',
      'x1VxDbhGXBOuGdeCq/HVhaEm5ISeEBSKQlJoClGhqqeq1++Iqp6qnqqeqp6qnqqeqp6qSlWlqupPR1WlqlJVqapUVaoqVQNVA1UDVYPeUVQNVA',
      '1UDVQNVA1UjVSNVI1UjVSNeqNTNVI1UjVSNVI1UTVRNVE1UTVRNenzR9VE1UTVRNVM1UzVTNVM1UzVTNWsWaBqpmqmaqFqoWqhaqFqoWqhaqFq',
      '0VpRtVDVqGpUNaoaVY2qRlWjqlHVNKJeUc1opx3tNKSdlrTTlHba0k5j2mlNO81pJ99/My+fh95L76n31nvsvfaee+19NPjp3SH5tPnR6EerH8',
      '1+tPvR8EfLH01/tP2pDqV8mv9o/6MARAWIEhA1IIpAVIEoAxlccvlUgigFUQuiGEQ1iHIQ9SAKQlSEjH7UkE9RiKoQZSHqQhSGqAxRGqI2RHHI',
      '5Gch+dSHKBBRIaJERI2IIhFVIspE1InMfliTT6mIWhHFIqpFlIuoF1EwomJEycjip0n5VI0oG1E3onBE5YjSEbUjikdUjzQ/7raD7e9/MO7ceH',
      'xSytly+rV68vPHhb8//wUNN2CIgQwAAA==',
    ],
  },
  {
    name: '01a206211770bbbbbbbb0001.cccccccc0001',
    lines: [
      'H4sIAAAAAAACA2XXS0hUYQDF8W+0h9hYKYWbKJ0MGyG6575vixbTEFpKUkLSIiZJw2rsAQUlQVKUFUX0WBg9zCLM2hQ0LiYo3GQroUUFQxFRi9',
      'zUom1MTQ/wnGYhfCj445vx/K/Nm1rT7es2ImaMiY3Mqa/dn8/n8yb293R0barhdfP6zTAxM8+Y+A5j4jXGmC/Lvl37ePfBrcb5yw8M9Cf2dB9J',
      'rEnsSRxb+WT1D9M5e67pqlq66HntqfIFFQ+D4sOG5OXW5KOjU7sqJorFYnHs16spUXoVctn+np6ennvZQm5Fy6WG8WzBr66urj4zODg4eLFYLD',
      '4r/ezZ0mkyly3cHBoaGuot5LItlxpeZgu5tnQ6nd7+KdmYipfNLp914vQJU378+IvRuqc/qp7f2e0t3I7352LZ8XeHCzO/3Ni6/NX05/uPO5Jj',
      'S8a+d0x39DV1N626OrJ54KDVnsm0t2cymeHhTGb4Qnzgdu3u+sWp+tbRk9cqBiZv5Pu/vj0f21b5+05M6U6qDv25k3jNh09dV0p30tS29OuMO+',
      'nat/NIXVC3t7evu86qnHkCnWw6OXRy6eTRyadTQKeQThH/dsGwBswBe8AgsAhMApvAKLDKZpUtd8Qqm1U2q2xW2ayyWWWzymaVwyqHVY68daxy',
      'WOWwymGVwyqHVQ6rXFa5rHJZ5conilUuq1xWuaxyWeWyymOVxyqPVR6rPPmgs8pjlccqj1Ueq3xW+azyWeWzymeVL39/rPJZ5bPKZ1XAqoBVAa',
      'sCVgWsClgVyCywKmBVwKqQVSGrQlaFrApZFbIqZFUoa8WqkFURqyJWRayKWBWxKmJVxKqIVZGMqK6ozKglO2rJkFqypJZMqSVbasmYWrKmlsyp',
      'Jb7/Zl58OvS69Dr1uvU69rr2Ovey95DBh60dEp9sPmT0IasPmX3I7kOGH7L8kOmHbD8cDaX4ZP4h+w8JAKQAkARAGgCJAKQCkAzA1ZKLT0oASQ',
      'GkBZAYQGoAyQGkB5AgQIoATx81xCdRgFQBkgVIFyBhgJQBkgZIGyBxgK/PQuKTPkACASkEJBGQRkAiAakEJBOQTiDQhzXxSSogrYDEAlILSC4g',
      'vYAEA1IMSDIQ6tOk+KQakGxAugEJB6QckHRA2gGJB6QeiPRxN6ps/vNPV0uqecKYGmNSG6aNuW5Kr7KpN51b/n3/J2QeD0adDQAA',
    ],
  },
]
