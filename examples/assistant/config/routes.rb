# frozen_string_literal: true

Rails.application.routes.draw do
  root "conversations#index"
  resources :conversations, only: %i[index show create destroy] do
    resources :messages, only: :create
  end
  resources :messages, only: [] do
    get :stream, on: :member
    post :stop, on: :member
    post :again, on: :member
  end
  mount PretendModel.new => "/pretend" # see MODEL_URL in config/initializers/model.rb
end
