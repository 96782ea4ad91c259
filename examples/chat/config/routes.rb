# frozen_string_literal: true

Chat.routes do
  resource :sign_up, only: [:new, :create]
  resource :sign_in, only: [:new, :create, :destroy]
  resources :devices, only: [:index, :destroy] do
    delete :others, on: :collection
  end
  resource :password, only: [:edit, :update]
  resources :password_resets, only: [:new, :create, :edit, :update], param: :token
  root to: "rooms#index"
  resources :rooms, except: [] do
    resources :messages, only: [:index, :show, :create, :update, :destroy] do
      resources :reactions, only: [:create]
    end
    resources :memberships, only: [:create, :destroy]
  end
  resources :directs, only: [:new, :create]
  resource :sidebar, only: [:show]
  resource :search, only: [:show]
  mount Chat.cable, at: "/cable"
end
