# frozen_string_literal: true

Rails.application.routes.draw do
  %w[plain show fresh expiring nothing created moved see_other file served data rescued failing forbidden]
    .each { |name| get name, to: "pages##{name}" }
  get "formats(.:format)", to: "pages#formats"
  match "echo(/*rest)", to: "pages#echo", via: :all, format: false
  post "upload", to: "pages#upload"
  %w[set_cookies read_cookies set_session reset set_flash read_flash form].each do |name|
    get "state/#{name}", to: "state##{name}"
  end
  post "state/submit", to: "state#submit"
  %w[enumerator sized body].each { |name| get "streams/#{name}", to: "streams##{name}" }
  %w[parts events download state failing_early].each { |name| get "live/#{name}", to: "live##{name}" }
  resources :documents, only: :create
  get "found", to: redirect("/plain")
end
