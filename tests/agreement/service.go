/* service.go -- a program that takes much of the standard library with it. */
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"sort"
	"strings"
	"sync"
)

type order struct {
	ID    int            `json:"id"`
	Lines map[string]int `json:"lines"`
}

func (o order) total() (sum int) {
	for _, n := range o.Lines {
		sum += n
	}
	return
}

func words(text string) []string {
	found := strings.Fields(text)
	sort.Slice(found, func(i, j int) bool { return found[i] < found[j] })
	return found
}

func serve(w http.ResponseWriter, r *http.Request) {
	var o order
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprintf(w, "%d: %d", o.ID, o.total())
}

func main() {
	server := httptest.NewServer(http.HandlerFunc(serve))
	defer server.Close()
	var wait sync.WaitGroup
	for i := 0; i < 4; i++ {
		wait.Add(1)
		go func(id int) {
			defer wait.Done()
			text, _ := json.Marshal(order{id, map[string]int{"a": id, "b": 2}})
			answer, err := http.Post(server.URL, "application/json", strings.NewReader(string(text)))
			if err == nil {
				answer.Body.Close()
			}
		}(i)
	}
	wait.Wait()
	fmt.Fprintln(os.Stdout, words("to be or not to be"))
}
