# frozen_string_literal: true

Rails.application.routes.draw do
  get "broadcast", to: "pages#broadcast"
  get "disconnect", to: "pages#disconnect"
  get "restart", to: "pages#restart"
  get "facts", to: "pages#facts"
  get "turbo", to: "pages#turbo"
  get "append", to: "pages#append"
  get "script.js",
    to: ->(_) {
      [200, {"content-type" => "text/javascript"},
        [File.read("#{Gem.loaded_specs["turbo-rails"].full_gem_path}/app/assets/javascripts/turbo.js")]]
    }
end
