import { execute, getVariableValues, parse, validate } from 'graphql';
import { createDice } from './dice.ts';
import { randomOperation } from './random-operations.ts';
import { randomSubgraphs } from './random-supergraphs.ts';
import { createWorld, told } from './world.ts';
const [,, s='0', e='3', n='50', only] = process.argv;
let bad=0, ok=0, invalid=0, nocompose=0; const t0=process.cpuUsage();
for (let seed=+s; seed<+e; seed++) {
  let w; const tc=performance.now();
  try { w = createWorld(randomSubgraphs(seed), {seed, failing: seed%3===0?0:14}); } catch (x) { nocompose++; if (nocompose<3) console.log(String(x).slice(0,400)); continue; }
  for (let i=0;i<+n;i++) {
    if (only && i!==+only) continue;
    const dice=createDice(seed*1000+i);
    const op=randomOperation(w.graph.schema,dice,i%5===4?'mutation':'query');
    let document; try { document=parse(op.source);} catch(x){console.log('parse',op.source);continue;}
    if (validate(w.graph.schema,document).length) {invalid++; continue;}
    const def=document.definitions[0] as any;
    const {coerced}=getVariableValues(w.graph.schema,def.variableDefinitions??[],op.variables) as any;
    w.changes.services.length=0;w.changes.merged.length=0;
    const exp=told(await execute({schema:w.merged,document,variableValues:op.variables}) as any);
    const calls:any[]=[];
    try {
      const c=w.executor.compile(document);
      const r=await c.run({variables:coerced,context:calls});
      const o=await c.runForObject({variables:coerced,context:[]});
      const got=told({data:JSON.parse(r.text),errors:[...r.errors,...r.incomplete] as any});
      const same=r.text===exp.data && JSON.stringify(o.data)===r.text && JSON.stringify(got.nulls)===JSON.stringify(exp.nulls);
      const half=w.changes.services.slice(0,w.changes.services.length/2);
      if (!same || JSON.stringify(half)!==JSON.stringify(w.changes.merged)) {
        bad++; if (bad<6||only) { console.log('DIFF',seed,i,op.source.replace(/\s+/g,' '),JSON.stringify(op.variables)); console.log(' exp',exp.data, exp.nulls.join()); console.log(' got',r.text,got.nulls.join()); if(JSON.stringify(o.data)!==r.text)console.log(' obj',JSON.stringify(o.data)); if (only) {console.log(calls.map(c=>c.service+' '+c.text+' '+JSON.stringify(c.variables)).join('\n')); console.log(r.errors, r.incomplete);} }
      } else ok++;
    } catch (x:any) { bad++; if (bad<8||only) console.log('THROW',seed,i,op.source.replace(/\s+/g,' '),JSON.stringify(op.variables),String(x.stack).slice(0,600)); }
  }
}
const t=process.cpuUsage(t0); console.log({ok,bad,invalid,nocompose,cpu:(t.user+t.system)/1e6});
