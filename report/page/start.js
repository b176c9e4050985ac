// A page that has its data in itself.

showPage(JSON.parse(document.getElementById('data').textContent));
