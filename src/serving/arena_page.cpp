#include "serving/arena.hpp"

#include "report/page.hpp"

#include <string_view>

namespace zeus::serving {

namespace {

constexpr std::string_view question_part = R"html(
<style>textarea,.answer{font:inherit;width:100%}.answer{white-space:pre-wrap;overflow-wrap:anywhere;min-height:6em;margin:0}
button{font:inherit;padding:4px 14px;margin:4px 8px 4px 0}fieldset{border:1px solid var(--rule);border-radius:8px;margin:12px 0}
h3{font-size:1rem;margin:0 0 4px}[hidden]{display:none}#result td{white-space:normal}</style>
<form id="ask"><p><label for="prompt">Prompt</label><br><textarea id="prompt" rows="4" maxlength="100000" required autofocus></textarea></p>
<button id="go">Ask both</button></form>
<p id="state" role="status">Two models answer without their names. Vote for the better answer; then see what each took.</p>
)html";

constexpr std::string_view answers_part = R"html(
<div class="charts"><div><h3>Left</h3><div class="answer" id="left"></div></div>
<div><h3>Right</h3><div class="answer" id="right"></div></div></div>
<fieldset id="better" hidden><legend>Which answer is better?</legend>
<button value="left">Left</button><button value="neither">Neither</button><button value="right">Right</button></fieldset>
)html";

constexpr std::string_view amount_rows = R"html(
<tr><th scope="row">Left</th><td data-key="left.model"></td><td data-key="left.tokens"></td><td data-key="left.time"></td><td data-key="left.energy"></td></tr>
<tr><th scope="row">Right</th><td data-key="right.model"></td><td data-key="right.tokens"></td><td data-key="right.time"></td><td data-key="right.energy"></td></tr>
)html";

constexpr std::string_view second_vote_part = R"html(
<fieldset id="worth" hidden><legend>The better answer took more energy. Was it worth that?</legend>
<button value="true">Yes</button><button value="false">No</button></fieldset>
)html";

constexpr std::string_view page_script = R"js(
(function(){
  var at=function(id){return document.getElementById(id);},id='',ended;
  var say=function(text){at('state').textContent=text;};
  var post=async function(path,body){
    var answer=await fetch(path,{method:'POST',headers:{'Content-Type':'application/json'},body:JSON.stringify(body)});
    if(!answer.ok){throw new Error((await answer.json()).error);}
    return answer;
  };
  var take=function(event){
    if(event.waits!==undefined){say(event.waits?'Others have asked before; yours follows.':'The models answer.');}
    else if(event.text!==undefined){at(event.place).textContent+=event.text;}
    else if(event.failure){ended=true;say(event.failure);}
    else if(event.id){ended=true;id=event.id;say('Both have answered.');at('better').hidden=false;at('better').querySelector('button').focus();}
  };
  var again=function(text){say(text);at('prompt').select();at('prompt').focus({preventScroll:true});};
  at('ask').addEventListener('submit',async function(submitted){
    submitted.preventDefault();
    if(at('go').disabled){return;}
    at('go').disabled=true;ended=false;id='';
    ['better','worth','result'].forEach(function(part){at(part).hidden=true;});
    ['left','right'].forEach(function(place){at(place).textContent='';});
    try{
      var reader=(await post('/ask',{prompt:at('prompt').value})).body.getReader(),decoder=new TextDecoder(),rest='',got;
      while(!(got=await reader.read()).done){
        var events=(rest+decoder.decode(got.value,{stream:true})).split('\n\n');
        rest=events.pop();
        events.forEach(function(event){if(event.startsWith('data: ')){take(JSON.parse(event.slice(6)));}});
      }
      if(!ended){say('The arena broke off. Ask again.');}
    }catch(error){say('This was not asked: '+error.message);}
    at('go').disabled=false;
  });
  at('better').addEventListener('click',async function(clicked){
    if(!clicked.target.value){return;}
    try{
      var shown=await (await post('/vote',{id:id,better:clicked.target.value})).json();
      document.querySelectorAll('#result td').forEach(function(cell){
        var key=cell.dataset.key.split('.'),one=shown[key[0]];
        cell.textContent=key[1]==='model'?one.model:one['shown_'+key[1]];
      });
      at('better').hidden=true;at('result').hidden=false;
      if(shown.asks_for_worth){say('Your vote is kept.');at('worth').hidden=false;at('worth').querySelector('button').focus();}
      else{again('Your vote is kept. Ask again.');}
    }catch(error){say('This vote was not kept: '+error.message);}
  });
  at('worth').addEventListener('click',async function(clicked){
    if(!clicked.target.value){return;}
    try{
      await post('/vote',{id:id,worth:clicked.target.value==='true'});
      at('worth').hidden=true;again('Both votes are kept. Ask again.');
    }catch(error){say('This vote was not kept: '+error.message);}
  });
})();
)js";

}  // namespace

std::string arena_page() {
  const std::string result =
      report::table("What each took", {"answer", "model", "tokens", "time", "energy"}, amount_rows);
  return report::to_html(
      {.title = "Which answer is better?",
       .subtitle = "Energy is all that a server's GPUs took from the question to the end of its answer.",
       .figures = {},
       .sections = {{"", std::string{question_part}},
                    {"Answers", std::string{answers_part} + "<div id=\"result\" hidden>" + result + "</div>" +
                                    std::string{second_vote_part}}},
       .script = std::string{page_script}});
}

}  // namespace zeus::serving
